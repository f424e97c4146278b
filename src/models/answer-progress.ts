import type { ModelDelta } from "./provider.ts";
import type { ServerEvent } from "./stream-format.ts";

/** Kinds of events without words that are believed to lead on, in one stretch; what begins differently is another kind. */
const MAX_KINDS = 64;
const KIND_CHARS = 512;

/**
 * Whether an answer gets on. Words do, and events of a kind that has not come since the last words: searches, beginnings,
 * signatures. Comments, pings and empty pieces, however many, do not. Time arrives as data.
 */
export class AnswerProgress {
  readonly #limitMs: number;
  readonly #kinds = new Set<string>();
  #lastMs: number;

  constructor(limitMs: number, nowMs: number) {
    this.#limitMs = limitMs;
    this.#lastMs = nowMs;
  }

  record(event: ServerEvent, deltas: readonly ModelDelta[], nowMs: number): void {
    if (deltas.some(({ delta }) => delta !== "")) {
      this.#lastMs = nowMs;
      this.#kinds.clear();
    } else if (this.#kinds.size < MAX_KINDS && !this.#isKnown(event)) this.#lastMs = nowMs;
  }

  /** Nothing has got on for longer than the limit. */
  hasStalled(nowMs: number): boolean {
    return nowMs - this.#lastMs > this.#limitMs;
  }

  /** Counters and time stamps make no other kind. */
  #isKnown({ event = "", data }: ServerEvent): boolean {
    const kind = `${event} ${data.slice(0, KIND_CHARS).replace(/\d+/g, "0")}`;
    const isKnown = this.#kinds.has(kind);
    this.#kinds.add(kind);
    return isKnown;
  }
}
