import { setTimeout as sleep } from "node:timers/promises";

export type EventuallyOptions = {
  /** 10 s unless said. */
  readonly timeoutMs?: number | undefined;
  readonly everyMs?: number | undefined;
  /** What is waited for, for the error. */
  readonly what?: string | undefined;
};

/**
 * Looks again and again until there is something to see: anything but `undefined` and `false`.
 *
 * @throws When the time is over, with what the last look threw, if it did.
 */
export async function eventually<Seen>(
  probe: () => Promise<Seen | undefined | false> | Seen | undefined | false,
  { timeoutMs = 10_000, everyMs = 20, what = "what was waited for" }: EventuallyOptions = {},
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
