import { createHash } from "node:crypto";
import { HoldfastError } from "../holdfast-error.ts";

/** How far a loop was told. */
export type LoopPosition = {
  /** The number of the next event. */
  readonly next: number;
  /** The number of the event with which the newest turn began. */
  readonly turnAt: number;
  /** The turn's answer has had its MessageStart, from live output. */
  readonly started?: boolean;
  /** So many of the events that the next one stands for were told. */
  readonly told?: number;
};

export type RecordedPosition = {
  /** Of so many loops, the session's first ones, nothing more is told. */
  readonly first: number;
  /** Those behind them, in order of start. */
  readonly loops: readonly (LoopPosition | "skipped")[];
  /** The newest evaluation that was told of, by its number in the session, and which of its events were told. */
  readonly group?: { readonly index: number; readonly told: number } | undefined;
};

/** Where a reader of a session's events stands: behind these recorded ones, and behind this offset of live output. */
export type EventPosition = RecordedPosition & { readonly offset: number };

// As text: version and session, offset, first, loops, group; numbers in base 36, nothing behind the last part that is
// there. A loop is its next event, then how far back its turn began, doubled, and one more when its answer has started,
// then what was told of the next event.

const VERSION = "1";
const CURSOR = /^1([0-9a-f]{5})\.([0-9a-z]+)\.([0-9a-z]+)(?:\.([-_0-9a-zX]*))?(?:\.([0-9a-z]+)-([0-7]))?$/;

/** Short, safe in an address, and of no meaning to anybody else. */
export function formatCursor(session: string, { offset, first, loops, group }: EventPosition): string {
  const parts = [`${VERSION}${hashSession(session)}`, formatNumber(offset), formatNumber(first)];
  if (loops.length > 0 || group !== undefined) parts.push(loops.map(formatLoopPosition).join("_"));
  if (group !== undefined) parts.push(`${formatNumber(group.index)}-${group.told}`);
  return parts.join(".");
}

export function parseCursor(session: string, cursor: string): EventPosition {
  const found = CURSOR.exec(cursor);
  if (found === null) throw createCursorError(session, cursor, "is none that `session.events()` has given");
  const [, check, offset = "", first = "", loops = "", index, delivered] = found;
  if (check !== hashSession(session)) throw createCursorError(session, cursor, "is one of another session");
  return {
    offset: parseNumber(offset),
    first: parseNumber(first),
    loops: loops === "" ? [] : loops.split("_").map((loop) => parseLoopPosition(session, cursor, loop)),
    ...(index === undefined ? {} : { group: { index: parseNumber(index), told: Number(delivered) } }),
  };
}

function formatLoopPosition(position: LoopPosition | "skipped"): string {
  if (position === "skipped") return "X";
  const { next, turnAt, started = false, told: delivered = 0 } = position;
  const back = (next - turnAt) * 2 + (started ? 1 : 0);
  return [formatNumber(next), formatNumber(back), ...(delivered === 0 ? [] : [formatNumber(delivered)])].join(
    "-",
  );
}

function parseLoopPosition(session: string, cursor: string, loop: string): LoopPosition | "skipped" {
  if (loop === "X") return "skipped";
  const [next = Number.NaN, back = Number.NaN, delivered = 0] = loop.split("-").map(parseNumber);
  const turnAt = next - Math.floor(back / 2);
  if (!(turnAt >= 0)) throw createCursorError(session, cursor, "is not whole");
  return {
    next,
    turnAt,
    ...(back % 2 === 1 ? { started: true } : {}),
    ...(delivered === 0 ? {} : { told: delivered }),
  };
}

const formatNumber = (value: number): string => value.toString(36);
const parseNumber = (digits: string): number => Number.parseInt(digits, 36);

/** The one that was made last: a reader makes many for one session. */
let isLoopPosition: { readonly session: string; readonly check: string } | undefined;

function hashSession(session: string): string {
  if (isLoopPosition?.session !== session) {
    isLoopPosition = {
      session,
      check: createHash("sha256").update(session, "utf8").digest("hex").slice(0, 5),
    };
  }
  return isLoopPosition.check;
}

function createCursorError(session: string, cursor: string, reason: string): HoldfastError {
  return new HoldfastError(
    "input-invalid",
    `The events of session ${session} cannot go on from ${JSON.stringify(cursor.slice(0, 80))}: the cursor ${reason}. ` +
      'Begin anew, from "loop", "session" or "now".',
    { session },
  );
}
