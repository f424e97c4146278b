import { setTimeout as sleep } from "node:timers/promises";

/** Looks until there is something to see; what the last look threw is the cause when the time is over. */
export async function eventually(
  probe,
  { timeoutMs = 30_000, everyMs = 50, what = "what was waited for" } = {},
) {
  const value = await pollUntil(probe, { timeoutMs, everyMs });
  if (value.value !== undefined) return value.value;
  throw new Error(`${what} did not come within ${timeoutMs} ms`, { cause: value.error });
}

/** The same for a judge: what does not come is `undefined`. */
export async function waitWithin(probe, { timeoutMs = 30_000, everyMs = 50 } = {}) {
  return (await pollUntil(probe, { timeoutMs, everyMs })).value;
}

async function pollUntil(probe, { timeoutMs, everyMs }) {
  const until = performance.now() + timeoutMs;
  let error;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return { value };
      error = undefined;
    } catch (thrown) {
      if (thrown?.name === "ClosedError") throw thrown;
      error = thrown;
    }
    if (performance.now() > until) return { error };
    await sleep(everyMs);
  }
}
