import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../observability/log.ts";
import { StoreError } from "../transcript/store-error.ts";
import { STORE_MAY_RECOVER } from "./failure.ts";

/** Delays between two tries at the store: the first is unnoticed, the last is how late a run is when the cause is gone. */
const FIRST_DELAY_MS = 50;
const LAST_DELAY_MS = 2000;

/**
 * Tries a write until the store takes it: a full disk or a locked file holds a run up and does not end it.
 *
 * @param signal - Ends the waiting, with the store's own error.
 */
export async function patiently<Result>(
  write: () => Promise<Result>,
  signal: AbortSignal,
  log: Logger,
): Promise<Result> {
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, LAST_DELAY_MS)) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreError) || !STORE_MAY_RECOVER[error.fault] || signal.aborted) throw error;
      log.warn({ fault: error.fault, delayMs }, error.message);
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
