import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WaitReporter } from "../../src/activities/model/wait-reporter.ts";
import { describePending } from "../../src/apps/cli/pending-view.ts";
import type { DeltaBody } from "../../src/store/stream/stream-hub.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const rate = { type: "rate", vendor: "anthropic", ahead: 2, forMs: 30_000 } as const;

function waiting() {
  const told: DeltaBody[] = [];
  return { told, waits: new WaitReporter((body) => told.push(body)) };
}

test("a wait is reported to the heartbeat at once and to subscribers after a second, once for each cause", () => {
  const { told, waits } = waiting();
  expect(waits.details).toEqual({});
  waits.onWait(rate);
  const { forMs: _, ...what } = rate;
  expect(waits.details).toEqual({ wait: { ...what, sinceMs: 1_000_000, untilMs: 1_030_000 } });
  vi.advanceTimersByTime(999);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1);
  waits.onWait({ ...rate, ahead: 1, forMs: 29_000 });
  const text =
    "waits for its turn: the limits for anthropic are used up for this minute, the next may go in 29 s, 2 before it";
  expect(told).toEqual([{ type: "waiting", text }]);
  waits.onWait({ type: "concurrency", vendor: "anthropic", ahead: 0 });
  expect(waits.details.wait).toEqual({
    type: "concurrency",
    vendor: "anthropic",
    ahead: 0,
    sinceMs: 1_000_000,
  });
  expect(told).toHaveLength(2);
  waits.onWait(undefined);
  expect(waits.details).toEqual({});
  vi.advanceTimersByTime(60_000);
  expect(told).toHaveLength(2);
});

test("a wait of less than a second is not reported", () => {
  const { told, waits } = waiting();
  waits.onWait(rate);
  waits.onWait(undefined);
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a step that waits is listed with the reason", () => {
  const step = { type: "model", id: "1", attempt: 1, maxAttempts: 4, state: "started" } as const;
  const more = { lastFailure: undefined, nextAttemptAt: undefined, worker: undefined };
  const waits = { type: "vendor", vendor: "openai", ahead: 0, sinceMs: 0, untilMs: 1_012_000 } as const;
  expect(describePending({ ...step, ...more, startedAt: new Date(996_000), wait: waits }, Date.now())).toBe(
    "model: started for 4 s, attempt 1 of 4; waits for its turn: openai is accepting no more requests for now, the next may go in 12 s",
  );
});
