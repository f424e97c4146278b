import { setTimeout as pause } from "node:timers/promises";
import { StoreError } from "../store-error.ts";
import { createBusyError, toStoreError } from "./sqlite-faults.ts";

const LOCK_PAUSE_MS = 5;

/**
 * Attempts something with a file, again and again while another connection locks it. The thread is free between attempts.
 *
 * @throws StoreError `busy` if the file is still locked after `busyMs`; every other error at once.
 */
export async function retryWhileBusy<T>(path: string, busyMs: number, attempt: () => T): Promise<T> {
  const deadline = performance.now() + busyMs;
  for (;;) {
    try {
      return attempt();
    } catch (failure) {
      const error = toStoreError(failure, path);
      if (!(error instanceof StoreError) || error.fault !== "busy") throw error;
      if (performance.now() >= deadline) throw createBusyError(path, busyMs, failure);
    }
    await pause(LOCK_PAUSE_MS);
  }
}
