import type { Statement, Work } from "../../postgres/transaction.ts";
import type { Value } from "../../postgres/values.ts";
import { type LineCodec, parseDelta } from "../line-codec.ts";
import type { Delta } from "../stream-hub.ts";

// Statements for deltas. A batch is written under a lock on its session, so that positions become visible in order.

/** The numbers of rows of one statement: few, so that few statements are prepared. */
const LENGTHS = [32, 8, 1] as const;
const COLUMNS = "session, loop_id, run, command, call, tool_call_id, is_announcement, at_ms, delta";
const ROW = "(nextval('delta_positions'), ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/**
 * The position from which the sequence continues after a crash, a failover or a restore reverted it: the database's clock
 * in microseconds, which is above every earlier position, since no one writes a million deltas a second. It does not matter
 * how far the sequence went back. The fixed increment applies if the clock was set back.
 */
const NEXT_EPOCH_POSITION =
  "greatest(nextval('delta_positions') + 1000000, floor(extract(epoch FROM clock_timestamp()) * 1e6)::bigint)";

/** @param json - The stored form of the same deltas. */
export function* insertDeltas(deltas: readonly Delta[], json: readonly string[], nowMs: number): Work<void> {
  // A commit need not wait for the disk: the data does not survive a crash.
  yield createStatement("SET LOCAL synchronous_commit = off");
  if (!(yield* hasEpoch())) yield* startEpoch(nowMs);
  for (let at = 0; at < deltas.length; ) {
    const length = LENGTHS.find((one) => one <= deltas.length - at)!;
    const rows = Array.from({ length }, () => ROW).join(", ");
    const values = deltas
      .slice(at, at + length)
      .flatMap((delta, index) => toRowValues(delta, json[at + index]!, nowMs));
    yield createStatement(`INSERT INTO deltas (position, ${COLUMNS}) VALUES ${rows}`, ...values);
    at += length;
  }
}

function* hasEpoch(): Work<boolean> {
  const text = "SELECT 1 AS there FROM delta_epoch LIMIT 1";
  return ((yield { text, values: [], returns: "row" }) as readonly unknown[]).length > 0;
}

function* startEpoch(nowMs: number): Work<void> {
  yield createStatement("LOCK TABLE delta_epoch IN SHARE ROW EXCLUSIVE MODE");
  if (yield* hasEpoch()) return;
  // The next crash must not revert the increment itself.
  yield createStatement("SET LOCAL synchronous_commit = on");
  yield createStatement(`SELECT setval('delta_positions', ${NEXT_EPOCH_POSITION})`);
  yield createStatement("INSERT INTO delta_epoch VALUES (?)", nowMs);
}

function toRowValues(delta: Delta, json: string, nowMs: number): Value[] {
  const { session, loopId, run, command, call, body } = delta;
  // A model's output about a call is part of its answer.
  const toolCallId = "toolCallId" in body && body.type !== "tool-call" ? body.toolCallId : null;
  const isAnnouncement = body.type === "recorded" ? 1 : 0;
  return [session, loopId, run, command, call, toolCallId, isAnnouncement, nowMs, json];
}

export function* notifyChannel(channel: string, topic: string): Work<void> {
  yield { text: "SELECT pg_notify(?, ?)", values: [channel, topic], returns: "nothing" };
}

type Row = { readonly position: number; readonly delta: string };

export function* readAfter(session: string, position: number, limit: number): Work<readonly Row[]> {
  const text =
    "SELECT position, delta FROM deltas WHERE session = ? AND position > ? ORDER BY position LIMIT ?";
  return (yield { text, values: [session, position, limit], returns: "rows" }) as readonly Row[];
}

export function* readOfCall(call: {
  session: string;
  run: string;
  command: number;
  call: number;
}): Work<readonly Row[]> {
  const text = `SELECT position, delta FROM deltas WHERE session = ? AND run = ? AND command = ? AND call = ?
    ORDER BY position`;
  const values = [call.session, call.run, call.command, call.call];
  return (yield { text, values, returns: "rows" }) as readonly Row[];
}

/** Reads the newest position of a session; 0 if nothing is stored. */
export function* readNewestPosition(session: string): Work<number> {
  const text = "SELECT max(position) AS position FROM deltas WHERE session = ?";
  const rows = (yield { text, values: [session], returns: "row" }) as readonly { position: number | null }[];
  return rows[0]?.position ?? 0;
}

/** Reads the newest positions of a session, in order. */
export function* readNewestPositions(session: string, count: number): Work<readonly number[]> {
  const text = "SELECT position FROM deltas WHERE session = ? ORDER BY position DESC LIMIT ?";
  const rows = (yield { text, values: [session, count], returns: "rows" }) as readonly Row[];
  return rows.map(({ position }) => position).reverse();
}

/** The deltas of a loop that an announcement completes. */
export type CompletedRange = {
  readonly session: string;
  readonly loopId: string;
  /** The position of the announcement; where it was not stored, the step that made it and when it came, by the clock that the rows' times come from. */
  readonly before: number | { readonly run: string; readonly command: number; readonly atMs: number };
  readonly completed: "all" | readonly string[];
};

export function* removeCompleted({ session, loopId, before, completed }: CompletedRange): Work<void> {
  // A step records what earlier steps of its run have produced, and nothing of later ones, whatever the clocks say.
  const [earlier, values]: [string, Value[]] =
    typeof before === "number"
      ? ["position < ?", [before]]
      : [
          "(run = ? AND command < ? OR at_ms <= ? AND NOT (run = ? AND command > ?))",
          [before.run, before.command, before.atMs, before.run, before.command],
        ];
  const text = `DELETE FROM deltas WHERE session = ? AND loop_id = ? AND ${earlier}`;
  if (completed === "all") {
    yield createStatement(text, session, loopId, ...values);
    return;
  }
  yield createStatement(`${text} AND tool_call_id IS NULL`, session, loopId, ...values);
  for (const id of completed) {
    yield createStatement(`${text} AND tool_call_id = ?`, session, loopId, ...values, id);
  }
}

/** Removes old announcements, and deltas of dead processes. */
export function* removeOld(announcementsBeforeMs: number, allBeforeMs: number): Work<void> {
  yield createStatement("DELETE FROM deltas WHERE at_ms < ? AND is_announcement = 1", announcementsBeforeMs);
  yield createStatement("DELETE FROM deltas WHERE at_ms < ?", allBeforeMs);
}

export function* removeSession(session: string): Work<void> {
  yield createStatement("DELETE FROM deltas WHERE session = ?", session);
}

function createStatement(text: string, ...values: Value[]): Statement {
  return { text, values, returns: "nothing" };
}

/** The content of a position; without a delta if it cannot be decoded. */
export type PositionedDelta = { readonly offset: number; readonly delta: Delta | undefined };

export function toPositionedDelta({ position, delta }: Row, codec: LineCodec): PositionedDelta {
  return { offset: position, delta: parseDelta(delta, codec) };
}
