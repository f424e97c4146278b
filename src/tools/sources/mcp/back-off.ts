import { setTimeout as delay } from "node:timers/promises";
import { McpError } from "./mcp-error.ts";

/** The delay after the first failure. It doubles with each further failure. */
const BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

/** A longer delay does not hold up the caller: the call fails with the time until the retry. */
const MAX_INLINE_WAIT_MS = 5_000;

/** Decides when a failed server is retried. */
export class BackOff {
  #failures = 0;
  #notBeforeMs = 0;
  #reason = "";

  get failures(): number {
    return this.#failures;
  }

  /** @returns The delay, in milliseconds. */
  recordFailure(reason: string): number {
    this.#failures += 1;
    this.#reason = reason;
    const pauseMs = Math.min(BACKOFF_MS * 2 ** (this.#failures - 1), MAX_BACKOFF_MS);
    this.#notBeforeMs = performance.now() + pauseMs;
    return pauseMs;
  }

  recordSuccess(): void {
    this.#failures = 0;
  }

  /** Resolves when the server may be retried. Rejects if that is too far away. */
  async wait(signal: AbortSignal): Promise<void> {
    const waitMs = this.#notBeforeMs - performance.now();
    if (waitMs > MAX_INLINE_WAIT_MS) {
      const seconds = Math.ceil(waitMs / 1000);
      throw new McpError("closed", `is retried in ${seconds} s; at the last attempt it ${this.#reason}`);
    }
    if (waitMs > 0) await delay(waitMs, undefined, { signal });
  }
}
