import { setTimeout as delay } from "node:timers/promises";
import { McpError } from "./mcp-error.ts";

/** From the first failure on, doubled with each. */
const BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

/** Longer than this nobody is held up: they are told when it is tried again. */
const MAX_INLINE_WAIT_MS = 5_000;

/** When a server that has failed is tried again. */
export class BackOff {
  #failures = 0;
  #notBeforeMs = 0;
  #reason = "";

  get failures(): number {
    return this.#failures;
  }

  /** @returns The pause, in milliseconds. */
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

  /** Resolves when it may be tried; rejects when that is too far away. */
  async wait(signal: AbortSignal): Promise<void> {
    const waitMs = this.#notBeforeMs - performance.now();
    if (waitMs > MAX_INLINE_WAIT_MS) {
      const seconds = Math.ceil(waitMs / 1000);
      throw new McpError("closed", `is tried again in ${seconds} s; the last time it ${this.#reason}`);
    }
    if (waitMs > 0) await delay(waitMs, undefined, { signal });
  }
}
