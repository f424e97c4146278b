import { CancelledFailure } from "@temporalio/activity";
import pino from "pino";
import { expect, test } from "vitest";
import { createActivityTranscript, retryUntil } from "../../src/activities/step/activity-transcript.ts";
import { StoreError, type StoreFault } from "../../src/store/transcript/store-error.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";

const log = pino({ level: "silent" });

/** A store that fails this many times before it answers. */
function failing(times: number, fault: StoreFault = "unreachable") {
  let asked = 0;
  const store = {
    readText: async (hash: string) => {
      asked += 1;
      if (asked <= times) throw new StoreError(fault, "away");
      return `text of ${hash}`;
    },
    archive: {
      countBytes: async () => (asked++ < times ? Promise.reject(new StoreError(fault, "away")) : 7),
    },
  };
  return { store: store as unknown as Transcript, asked: () => asked };
}

test("every operation waits for an unavailable store, including those of the archive", async () => {
  const { store, asked } = failing(2);
  expect(await createActivityTranscript(store, log).readText("a")).toBe("text of a");
  expect(asked()).toBe(3);
  expect(await createActivityTranscript(failing(2).store, log).archive.countBytes("s")).toBe(7);
});

test("a permanent fault is thrown at once", async () => {
  const { store, asked } = failing(1, "damaged");
  await expect(createActivityTranscript(store, log).readText("a")).rejects.toBeInstanceOf(StoreError);
  expect(asked()).toBe(1);
});

test("an aborted wait is a cancellation, not a failure of the store", async () => {
  const { store } = failing(Number.POSITIVE_INFINITY);
  const waiting = retryUntil(AbortSignal.timeout(80), () =>
    createActivityTranscript(store, log).readText("a"),
  );
  await expect(waiting).rejects.toBeInstanceOf(CancelledFailure);
});
