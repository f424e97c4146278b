import { createHash } from "node:crypto";
import { HoldfastError } from "../error.ts";

/** How far a loop was told. */
export type LoopPlace = {
  /** The number of the next event. */
  readonly next: number;
  /** The number of the event with which the newest turn began. */
  readonly turnAt: number;
  /** The turn's answer has had its MessageStart, from live output. */
  readonly started?: boolean;
  /** So many of the events that the next one stands for were told. */
  readonly told?: number;
};

export type RecordedPlace = {
  /** Of so many loops, the session's first ones, nothing more is told. */
  readonly first: number;
  /** Those behind them, in order of start. */
  readonly loops: readonly (LoopPlace | "skipped")[];
  /** The newest evaluation that was told of, by its number in the session, and which of its events were told. */
  readonly group?: { readonly index: number; readonly told: number } | undefined;
};

/** Where a reader of a session's events stands: behind these recorded ones, and behind this offset of live output. */
export type Place = RecordedPlace & { readonly offset: number };

// As text: version and session, offset, first, loops, group; numbers in base 36, nothing behind the last part that is
// there. A loop is its next event, then how far back its turn began, doubled, and one more when its answer has started,
// then what was told of the next event.

const VERSION = "1";
const CURSOR = /^1([0-9a-f]{5})\.([0-9a-z]+)\.([0-9a-z]+)(?:\.([-_0-9a-zX]*))?(?:\.([0-9a-z]+)-([0-7]))?$/;

/** Short, safe in an address, and of no meaning to anybody else. */
export function cursorOf(session: string, { offset, first, loops, group }: Place): string {
  const parts = [`${VERSION}${checkOf(session)}`, text(offset), text(first)];
  if (loops.length > 0 || group !== undefined) parts.push(loops.map(loopText).join("_"));
  if (group !== undefined) parts.push(`${text(group.index)}-${group.told}`);
  return parts.join(".");
}

export function placeOf(session: string, cursor: string): Place {
  const found = CURSOR.exec(cursor);
  if (found === null) throw invalid(session, cursor, "is none that `session.events()` has given");
  const [, check, offset = "", first = "", loops = "", index, told] = found;
  if (check !== checkOf(session)) throw invalid(session, cursor, "is one of another session");
  return {
    offset: number(offset),
    first: number(first),
    loops: loops === "" ? [] : loops.split("_").map((loop) => loopPlace(session, cursor, loop)),
    ...(index === undefined ? {} : { group: { index: number(index), told: Number(told) } }),
  };
}

function loopText(place: LoopPlace | "skipped"): string {
  if (place === "skipped") return "X";
  const { next, turnAt, started = false, told = 0 } = place;
  const back = (next - turnAt) * 2 + (started ? 1 : 0);
  return [text(next), text(back), ...(told === 0 ? [] : [text(told)])].join("-");
}

function loopPlace(session: string, cursor: string, loop: string): LoopPlace | "skipped" {
  if (loop === "X") return "skipped";
  const [next = Number.NaN, back = Number.NaN, told = 0] = loop.split("-").map(number);
  const turnAt = next - Math.floor(back / 2);
  if (!(turnAt >= 0)) throw invalid(session, cursor, "is not whole");
  return { next, turnAt, ...(back % 2 === 1 ? { started: true } : {}), ...(told === 0 ? {} : { told }) };
}

const text = (value: number): string => value.toString(36);
const number = (word: string): number => Number.parseInt(word, 36);

/** The one that was made last: a reader makes many for one session. */
let known: { readonly session: string; readonly check: string } | undefined;

function checkOf(session: string): string {
  if (known?.session !== session) {
    known = { session, check: createHash("sha256").update(session, "utf8").digest("hex").slice(0, 5) };
  }
  return known.check;
}

function invalid(session: string, cursor: string, why: string): HoldfastError {
  return new HoldfastError(
    "input-invalid",
    `The events of session ${session} cannot go on from ${JSON.stringify(cursor.slice(0, 80))}: the cursor ${why}. ` +
      'Begin anew, from "loop", "session" or "now".',
    { session },
  );
}
