import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait, and how often to look. */
export type EventuallyOptions = {
  /** 10 s by default. */
  readonly timeoutMs?: number | undefined;
  /** The time between two looks, in milliseconds. */
  readonly everyMs?: number | undefined;
  /** The name of the awaited thing, for the error. */
  readonly what?: string | undefined;
};

/**
 * Calls the function repeatedly until it returns anything except `undefined` and `false`.
 *
 * @throws When the time is over; the cause is the error of the last call, if it threw one.
 */
export async function eventually<Seen>(
  probe: () => Promise<Seen | undefined | false> | Seen | undefined | false,
  { timeoutMs = 10_000, everyMs = 20, what = "the awaited condition" }: EventuallyOptions = {},
): Promise<Seen> {
  const until = performance.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > until) throw new Error(`${what} did not come within ${timeoutMs} ms`, { cause });
    await sleep(everyMs);
  }
}
