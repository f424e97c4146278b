import { createHash } from "node:crypto";
import { HoldfastError } from "../holdfast-error.ts";

/** How much of a loop was delivered. */
export type LoopPosition = {
  /** The number of the next event. */
  readonly next: number;
  /** The number of the event with which the newest turn began. */
  readonly turnAt: number;
  /** Whether live output has delivered the MessageStart of the turn's answer. */
  readonly started?: boolean;
  /** How many events of the next recorded event's expansion were delivered. */
  readonly delivered?: number;
};

export type RecordedPosition = {
  /** The number of loops, from the session's first one on, that were delivered completely. */
  readonly first: number;
  /** The loops after those, in order of start. */
  readonly loops: readonly (LoopPosition | "skipped")[];
  /** The newest evaluation of which an event was delivered: its number in the session, and which of its events. */
  readonly group?: { readonly index: number; readonly delivered: number } | undefined;
};

/** The position of a reader of a session's events: after these recorded events, and after this offset of live output. */
export type EventPosition = RecordedPosition & { readonly offset: number };

// The text form: version and session, offset, first, loops, group. Numbers are in base 36; absent last parts are omitted.
// A loop consists of its next event; then the distance back to its turn's start, doubled, plus one if its answer has
// started; then the number of delivered events of the next recorded event.

const VERSION = "1";
const CURSOR = /^1([0-9a-f]{5})\.([0-9a-z]+)\.([0-9a-z]+)(?:\.([-_0-9a-zX]*))?(?:\.([0-9a-z]+)-([0-7]))?$/;

/** Formats a position as a cursor: short, safe in a URL, and opaque to others. */
export function formatCursor(session: string, { offset, first, loops, group }: EventPosition): string {
  const parts = [`${VERSION}${hashSession(session)}`, formatNumber(offset), formatNumber(first)];
  if (loops.length > 0 || group !== undefined) parts.push(loops.map(formatLoopPosition).join("_"));
  if (group !== undefined) parts.push(`${formatNumber(group.index)}-${group.delivered}`);
  return parts.join(".");
}

export function parseCursor(session: string, cursor: string): EventPosition {
  const found = CURSOR.exec(cursor);
  if (found === null) throw createCursorError(session, cursor, "was not created by `session.events()`");
  const [, check, offset = "", first = "", loops = "", index, delivered] = found;
  if (check !== hashSession(session)) throw createCursorError(session, cursor, "belongs to another session");
  return {
    offset: parseNumber(offset),
    first: parseNumber(first),
    loops: loops === "" ? [] : loops.split("_").map((loop) => parseLoopPosition(session, cursor, loop)),
    ...(index === undefined ? {} : { group: { index: parseNumber(index), delivered: Number(delivered) } }),
  };
}

function formatLoopPosition(position: LoopPosition | "skipped"): string {
  if (position === "skipped") return "X";
  const { next, turnAt, started = false, delivered = 0 } = position;
  const back = (next - turnAt) * 2 + (started ? 1 : 0);
  return [formatNumber(next), formatNumber(back), ...(delivered === 0 ? [] : [formatNumber(delivered)])].join(
    "-",
  );
}

function parseLoopPosition(session: string, cursor: string, loop: string): LoopPosition | "skipped" {
  if (loop === "X") return "skipped";
  const [next = Number.NaN, back = Number.NaN, delivered = 0] = loop.split("-").map(parseNumber);
  const turnAt = next - Math.floor(back / 2);
  if (!(turnAt >= 0)) throw createCursorError(session, cursor, "is incomplete");
  return {
    next,
    turnAt,
    ...(back % 2 === 1 ? { started: true } : {}),
    ...(delivered === 0 ? {} : { delivered }),
  };
}

const formatNumber = (value: number): string => value.toString(36);
const parseNumber = (digits: string): number => Number.parseInt(digits, 36);

/** The hash of the last session: a reader creates many cursors for one session. */
let cachedHash: { readonly session: string; readonly check: string } | undefined;

function hashSession(session: string): string {
  if (cachedHash?.session !== session) {
    cachedHash = {
      session,
      check: createHash("sha256").update(session, "utf8").digest("hex").slice(0, 5),
    };
  }
  return cachedHash.check;
}

function createCursorError(session: string, cursor: string, reason: string): HoldfastError {
  return new HoldfastError(
    "input-invalid",
    `The events of session ${session} cannot resume from ${JSON.stringify(cursor.slice(0, 80))}: the cursor ${reason}. ` +
      'Start again from "loop", "session" or "now".',
    { session },
  );
}
