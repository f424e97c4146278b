import { readGrants } from "../../../core/permission/grants.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { EvaluationLine, InboxLine, LoopLine, SessionLine } from "../../../schema/export-line.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData } from "./encrypted-columns.ts";
import { type EventRange, findVisibleRanges } from "./events.ts";
import { readInbox } from "./inbox.ts";
import { loadData, readParts } from "./message-data.ts";
import { type LoopRow, type SessionRow, toLoopFields, toSessionFields } from "./read-records.ts";
import { all, get, type Work } from "./statement.ts";
import { toSessionTitle } from "./titles.ts";

// The reads of an export. The ranges are fixed at the beginning, in an order in which later reads contain everything that
// earlier reads refer to. Rows never change, so the rest can take any time.

export type LoopPlan = {
  readonly ref: number;
  readonly line: LoopLine;
  readonly events: readonly EventRange[];
};

type SessionLineRow = Omit<SessionRow, "loops"> & { grants: string | null };

export function* readSessionLine(session: string): Work<SessionLine | undefined> {
  const row = yield* get<SessionLineRow>("SELECT * FROM sessions WHERE id = ? AND hidden IS NULL", session);
  if (row === undefined) return undefined;
  const spawn = decryptColumn(row, "spawn", buildAssociatedData("sessions.spawn", [row.id]));
  const grants = decryptColumn(row, "grants", buildAssociatedData("sessions.grants", [row.id]));
  return {
    type: "session",
    id: row.id,
    ...toSessionFields(row),
    status: row.status,
    ...(spawn === null ? {} : { spawn: JSON.parse(spawn) }),
    ...(grants === null ? {} : { grants: readGrants(JSON.parse(grants)) }),
    ...(row.scope === "persistent" ? { scope: "persistent" as const } : {}),
    ...(row.agent_id === null ? {} : { agentId: row.agent_id }),
    ...(row.origin === null ? {} : { origin: JSON.parse(row.origin) }),
    ...omitUndefined({ title: toSessionTitle(row) }),
  };
}

type LoopLineRow = LoopRow & {
  segment: string;
  number: number;
  end_branch: string | null;
  end_position: number | null;
  view: string | null;
  grants: string | null;
};

export function* readLoopLines(
  session: string,
  after: number,
  limit: number,
): Work<readonly { ref: number; record: LoopPlan }[]> {
  const rows = yield* all<LoopLineRow>(
    "SELECT * FROM loops WHERE session = ? AND ref > ? ORDER BY ref LIMIT ?",
    session,
    after,
    limit,
  );
  const plans: { ref: number; record: LoopPlan }[] = [];
  for (const row of rows) {
    const events = yield* findVisibleRanges(row.ref);
    plans.push({ ref: row.ref, record: { ref: row.ref, line: toLoopLine(session, row, events), events } });
  }
  return plans;
}

function toLoopLine(session: string, row: LoopLineRow, events: readonly EventRange[]): LoopLine {
  const view = decryptColumn(row, "view", buildAssociatedData("loops.view", [row.loop_id]));
  const grants = decryptColumn(row, "grants", buildAssociatedData("loops.grants", [row.loop_id]));
  const end =
    row.end_branch === null || row.end_position === null
      ? undefined
      : {
          branch: row.end_branch,
          position: row.end_position,
          ...(view === null ? {} : { view: JSON.parse(view) }),
        };
  return {
    type: "loop",
    session,
    loopId: row.loop_id,
    segment: row.segment,
    number: row.number,
    ...toLoopFields(row),
    ...omitUndefined({ end }),
    ...(grants === null ? {} : { grants: readGrants(JSON.parse(grants)) }),
    ...(row.evaluation === null ? {} : { evaluation: row.evaluation }),
    events: events.at(-1)?.to ?? 0,
  };
}

type EvaluationRow = {
  id: string;
  opened: string;
  started_at_ms: number;
  warning: string | null;
  closed: string | null;
  ended_at_ms: number | null;
};

export function* readEvaluationLines(session: string): Work<readonly EvaluationLine[]> {
  const rows = yield* all<EvaluationRow>(
    "SELECT * FROM evaluations WHERE session = ? ORDER BY started_at_ms, id",
    session,
  );
  return rows.map((row) => {
    const opened = decryptColumn(row, "opened", buildAssociatedData("evaluations.opened", [row.id]));
    const warning = decryptColumn(row, "warning", buildAssociatedData("evaluations.warning", [row.id]));
    const closed = decryptColumn(row, "closed", buildAssociatedData("evaluations.closed", [row.id]));
    return {
      type: "evaluation",
      session,
      id: row.id,
      opened: JSON.parse(opened),
      startedAtMs: row.started_at_ms,
      ...(warning === null ? {} : { warning: JSON.parse(warning) }),
      ...(closed === null ? {} : { closed: JSON.parse(closed) }),
      ...(row.ended_at_ms === null ? {} : { endedAtMs: row.ended_at_ms }),
    };
  });
}

export function* readInboxLines(session: string): Work<readonly InboxLine[]> {
  const lines: InboxLine[] = [];
  for (const { id, atMs, text, parts, metadata } of yield* readInbox(session)) {
    const stored = parts === undefined ? undefined : yield* readParts(parts);
    const content = stored === undefined ? undefined : yield* loadData(stored);
    lines.push({ type: "inbox", session, id, atMs, text, ...omitUndefined({ content, metadata }) });
  }
  return lines;
}

export type StoredEntry = {
  readonly position: number;
  readonly run: string;
  readonly origin: string;
  readonly message_id: string | null;
  readonly tokens: number;
  readonly message: string | null;
  readonly content: string | null;
};

export function* readStoredEntries(
  branch: number,
  from: number,
  to: number,
  limit: number,
): Work<readonly StoredEntry[]> {
  return yield* all<StoredEntry>(
    `SELECT position, run, origin, message_id, tokens, message, content FROM entries
     WHERE branch = ? AND position >= ? AND position < ? ORDER BY position LIMIT ?`,
    branch,
    from,
    to,
    limit,
  );
}

export function* readRun(loop: number, ordinal: number): Work<string> {
  const row = yield* get<{ run: string }>(
    "SELECT run FROM loop_runs WHERE loop = ? AND ordinal = ?",
    loop,
    ordinal,
  );
  return row?.run ?? "";
}
