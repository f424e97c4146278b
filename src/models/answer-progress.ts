import type { ModelDelta } from "./provider.ts";
import type { ServerEvent } from "./stream-format.ts";

/** The most kinds of events without text that count as progress between two texts. An event's beginning is its kind. */
const MAX_KINDS = 64;
const KIND_CHARS = 512;

/**
 * Decides whether an answer makes progress. Text does, and so does each kind of event that is new since the last text:
 * searches, block starts, signatures. Comments, pings and empty pieces, however many, do not. Time arrives as data.
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

  /** Returns whether the answer has made no progress for longer than the limit. */
  hasStalled(nowMs: number): boolean {
    return nowMs - this.#lastMs > this.#limitMs;
  }

  /** Counters and timestamps do not make a new kind. */
  #isKnown({ event = "", data }: ServerEvent): boolean {
    const kind = `${event} ${data.slice(0, KIND_CHARS).replace(/\d+/g, "0")}`;
    const isKnown = this.#kinds.has(kind);
    this.#kinds.add(kind);
    return isKnown;
  }
}
