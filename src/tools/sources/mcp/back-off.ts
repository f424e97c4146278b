import { setTimeout as delay } from "node:timers/promises";
import { McpError } from "./error.ts";

/** From the first failure on, doubled with each. */
const BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

/** Longer than this nobody is held up: they are told when it is tried again. */
const MAX_WAIT_MS = 5_000;

/** When a server that has failed is tried again. */
export class BackOff {
  #failures = 0;
  #notBefore = 0;
  #why = "";

  get failures(): number {
    return this.#failures;
  }

  /** @returns The pause, in milliseconds. */
  failed(why: string): number {
    this.#failures += 1;
    this.#why = why;
    const pauseMs = Math.min(BACKOFF_MS * 2 ** (this.#failures - 1), MAX_BACKOFF_MS);
    this.#notBefore = performance.now() + pauseMs;
    return pauseMs;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** Resolves when it may be tried; rejects when that is too far away. */
  async wait(signal: AbortSignal): Promise<void> {
    const waitMs = this.#notBefore - performance.now();
    if (waitMs > MAX_WAIT_MS) {
      const seconds = Math.ceil(waitMs / 1000);
      throw new McpError("closed", `is tried again in ${seconds} s; the last time it ${this.#why}`);
    }
    if (waitMs > 0) await delay(waitMs, undefined, { signal });
  }
}
