import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createCallSignal } from "../../src/activities/tool/call-signal.ts";

function createActivity(notFound: boolean) {
  const cancel = new AbortController();
  const activity = {
    cancellationSignal: cancel.signal,
    get cancellationDetails() {
      return cancel.signal.aborted ? { notFound } : undefined;
    },
  };
  return { activity, cancel: () => cancel.abort(new Error("CANCELLED")) };
}

const open = async () => true;
const ended = async () => false;
const away = async (): Promise<boolean> => {
  throw new Error("unreachable");
};

test.each([
  ["a cancellation", false, open],
  ["a run that has ended", true, ended],
  ["a server that does not answer", true, away],
])("%s ends the call at once, with the activity's reason", async (_, notFound, isRunOpen) => {
  const { activity, cancel } = createActivity(notFound);
  const { signal } = createCallSignal(activity, isRunOpen, 60_000);
  cancel();
  await expect.poll(() => signal.aborted).toBe(true);
  expect(signal.reason).toMatchObject({ message: "CANCELLED" });
});

test("an activity that is cancelled already ends the call at once", async () => {
  const { activity, cancel } = createActivity(false);
  cancel();
  const { signal } = createCallSignal(activity, open, 60_000);
  await expect.poll(() => signal.aborted).toBe(true);
});

test("a call whose heartbeats were late while its run goes on has time to end, and no more than that", async () => {
  const { activity, cancel } = createActivity(true);
  const late = createCallSignal(activity, open, 200);
  cancel();
  await sleep(50);
  expect(late.signal.aborted).toBe(false);
  await expect.poll(() => late.signal.aborted).toBe(true);
});

test("without a cancellation the signal never aborts", async () => {
  const { activity } = createActivity(true);
  const { signal, end } = createCallSignal(activity, open, 0);
  end();
  await sleep(20);
  expect(signal.aborted).toBe(false);
});
