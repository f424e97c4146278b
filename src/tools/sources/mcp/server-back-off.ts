import { setTimeout as delay } from "node:timers/promises";
import { computePauseMs } from "../../../platform/async/back-off.ts";
import { McpError } from "./mcp-error.ts";

const BACK_OFF = { firstMs: 500, longestMs: 30_000 };

/** A longer delay does not hold up the caller: the call fails with the time until the retry. */
const MAX_INLINE_WAIT_MS = 5_000;

/** Decides when a failed server is retried. */
export class ServerBackOff {
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
    const pauseMs = computePauseMs(BACK_OFF, this.#failures);
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
