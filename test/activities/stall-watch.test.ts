import { expect, test } from "vitest";
import { StallWatch } from "../../src/activities/step/stall-watch.ts";

function createWatch() {
  let now = 100_000;
  const watch = new StallWatch(() => now);
  return {
    watch,
    /** Lets the time pass, with ticks or without. */
    pass: (ms: number, every = 500) => {
      for (const endMs = now + ms; now < endMs; ) {
        now += every;
        watch.tick();
      }
    },
    stall: (ms: number) => {
      now += ms;
    },
  };
}

test("a process whose timer ticks on time has lost no step, however long the step takes", () => {
  const { watch, pass } = createWatch();
  const began = watch.tick();
  pass(600_000);
  expect(watch.mayHaveLost(began)).toBe(false);
});

test("short delays of the timer lose no step", () => {
  const { watch, pass } = createWatch();
  const began = watch.tick();
  pass(100_000, 5000);
  expect(watch.mayHaveLost(began)).toBe(false);
});

test("a step that began before a stall is lost, whether the late timer has run by then or not", () => {
  const { watch, pass, stall } = createWatch();
  const began = watch.tick();
  stall(5001);
  expect(watch.mayHaveLost(began)).toBe(true);
  pass(60_000);
  expect(watch.mayHaveLost(began)).toBe(true);
});

test("a step that was queued here during the stall is lost, and a later one is not", () => {
  const { watch, pass, stall } = createWatch();
  stall(20_000);
  const queued = watch.tick();
  expect(watch.mayHaveLost(queued)).toBe(true);
  pass(1500);
  expect(watch.mayHaveLost(watch.tick())).toBe(false);
});

test("a released step waits until a step that begins then was certainly taken after the stall", () => {
  const { watch, pass, stall } = createWatch();
  expect(watch.computeSafeDelayMs()).toBe(0);
  stall(20_000);
  expect(watch.mayHaveLost(watch.tick())).toBe(true);
  const delayMs = watch.computeSafeDelayMs();
  expect(delayMs).toBeLessThanOrEqual(1001);
  pass(delayMs, delayMs);
  expect(watch.mayHaveLost(watch.tick())).toBe(false);
  expect(watch.computeSafeDelayMs()).toBe(0);
});

test("a stall that is forgotten loses no step, and the next one does", () => {
  const { watch, stall } = createWatch();
  stall(20_000);
  watch.forget();
  const began = watch.tick();
  expect(watch.mayHaveLost(began)).toBe(false);
  stall(5001);
  expect(watch.mayHaveLost(began)).toBe(true);
});
