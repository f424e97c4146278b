import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Semaphore } from "../../src/tools/sources/mcp/semaphore.ts";

test("a call that is cancelled while it waits gives up its place", async () => {
  const semaphore = new Semaphore(1);
  const { signal } = new AbortController();
  const leaving = new AbortController();
  let finish = (): void => undefined;
  const first = semaphore.run(signal, () => new Promise<void>((resolve) => (finish = resolve)));
  const second = semaphore.run(leaving.signal, async () => "never");
  leaving.abort(new Error("cancelled"));
  await expect(second).rejects.toThrow("cancelled");
  finish();
  await first;
  const third = semaphore.run(signal, async () => "ran");
  expect(await Promise.race([third, nextTurn("waits")])).toBe("ran");
});
