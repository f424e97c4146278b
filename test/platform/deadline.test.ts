import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test, vi } from "vitest";
import { computePauseMs, randomisePauseMs } from "../../src/platform/async/back-off.ts";
import { Deadline, limitSignal, runWithDeadline } from "../../src/platform/async/deadline.ts";
import { raceAbort, raceTimeout } from "../../src/platform/async/race.ts";

afterEach(() => {
  vi.useRealTimers();
});

function useFakeTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
}

const NEVER = new Promise<never>(() => undefined);

test("a deadline passes after its time, and a pause does not count", () => {
  useFakeTime();
  const deadline = new Deadline(100);
  vi.advanceTimersByTime(60);
  deadline.pause();
  vi.advanceTimersByTime(1000);
  deadline.resume();
  vi.advanceTimersByTime(39);
  expect(deadline.hasPassed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(deadline.signal.aborted).toBe(true);
});

test("progress extends a deadline up to its cap, and not at all without one", () => {
  useFakeTime();
  const [capped, plain] = [new Deadline(100, 250), new Deadline(100)];
  for (let at = 0; at < 240; at += 80) {
    vi.advanceTimersByTime(80);
    capped.extend();
    plain.extend();
  }
  expect([capped.hasPassed, plain.hasPassed]).toEqual([false, true]);
  vi.advanceTimersByTime(10);
  expect(capped.hasPassed).toBe(true);
});

test("a deadline that has ended never passes, also when a late wait resumes it", () => {
  useFakeTime();
  const deadline = new Deadline(100);
  deadline.pause();
  deadline.dispose();
  deadline.resume();
  vi.advanceTimersByTime(1000);
  expect([deadline.hasPassed, vi.getTimerCount()]).toEqual([false, 0]);
});

test("work that the deadline ends rejects with the timeout error; cancelled and failed work with its own", async () => {
  const wait = (signal: AbortSignal) => raceAbort(NEVER, signal);
  const createError = (cause: unknown) => new Error("too late", { cause });
  const open = new AbortController().signal;
  const late = runWithDeadline(open, new Deadline(1), wait, createError);
  await expect(late).rejects.toThrow(/^too late$/);
  const cancelled = runWithDeadline(
    AbortSignal.abort("by the user"),
    new Deadline(60_000),
    wait,
    createError,
  );
  await expect(cancelled).rejects.toBe("by the user");
  const failed = runWithDeadline(open, new Deadline(60_000), () => Promise.reject("broken"), createError);
  await expect(failed).rejects.toBe("broken");
});

test("a limited signal aborts although the garbage collector runs and nothing else refers to its timer", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const outer = new AbortController();
  const signal = limitSignal(outer.signal, 200);
  const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
  const collecting = setInterval(collectGarbage, 10);
  try {
    expect(await Promise.race([aborted, sleep(10_000, "never")])).toMatchObject({ type: "abort" });
    expect(signal.reason).toMatchObject({ name: "TimeoutError" });
  } finally {
    clearInterval(collecting);
  }
});

test("a limited signal aborts with the outer one", () => {
  const outer = new AbortController();
  const signal = limitSignal(outer.signal, 60_000);
  outer.abort("stop");
  expect(signal.reason).toBe("stop");
});

test("a race ends with the work or with the signal, and ignores what the work does afterwards", async () => {
  const { signal } = new AbortController();
  await expect(raceAbort(Promise.resolve(1), signal)).resolves.toBe(1);
  const failing = Promise.reject(new Error("later"));
  await expect(raceAbort(failing, AbortSignal.abort("gone"))).rejects.toBe("gone");
  const leaving = new AbortController();
  const race = raceAbort(NEVER, leaving.signal);
  leaving.abort("left");
  await expect(race).rejects.toBe("left");
});

test("a wait for work ends with its result, its error, or nothing after the time", async () => {
  await expect(raceTimeout(Promise.resolve("done"), 60_000)).resolves.toBe("done");
  await expect(raceTimeout(Promise.reject(new Error("broken")), 60_000)).rejects.toThrow("broken");
  await expect(raceTimeout(NEVER, 1)).resolves.toBeUndefined();
});

test("pauses grow from the first to the longest", () => {
  const pauses = (backOff: Parameters<typeof computePauseMs>[0]) =>
    [1, 2, 3, 4, 5_000].map((failures) => computePauseMs(backOff, failures));
  expect(pauses({ firstMs: 100, longestMs: 500 })).toEqual([100, 200, 400, 500, 500]);
  expect(pauses({ firstMs: 8, longestMs: 20, factor: 1.5 })).toEqual([8, 12, 18, 20, 20]);
  const varied = Array.from({ length: 100 }, () => randomisePauseMs(100));
  expect(varied.every((pauseMs) => pauseMs >= 50 && pauseMs < 150)).toBe(true);
  expect(new Set(varied).size).toBeGreaterThan(1);
});
