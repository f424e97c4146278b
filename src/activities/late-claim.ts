import type { Claimed } from "../transcript/transcript.ts";

/**
 * A claim that is written when the work turns out to last. Work that is over before needs none: its one write is
 * keyed, and nobody has noticed meanwhile that its worker might have died.
 */
export class LateClaim {
  readonly #claim: () => Promise<Claimed>;
  readonly #failed = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #begun: Promise<Claimed> | undefined;

  constructor(claim: () => Promise<Claimed>, afterMs: number) {
    this.#claim = claim;
    this.#timer = setTimeout(() => this.#begin().catch((error) => this.#failed.abort(error)), afterMs);
  }

  /** Ends the work when the claim is refused: somebody else holds the step. */
  get refused(): AbortSignal {
    return this.#failed.signal;
  }

  /** Writes the claim now. */
  now(): Promise<Claimed> {
    clearTimeout(this.#timer);
    return this.#begin();
  }

  /** The claim, if it was begun; from now on it will not be. */
  async settle(): Promise<Claimed | undefined> {
    clearTimeout(this.#timer);
    return await this.#begun;
  }

  #begin(): Promise<Claimed> {
    this.#begun ??= this.#claim();
    return this.#begun;
  }
}
