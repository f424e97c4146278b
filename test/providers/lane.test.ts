import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Lane } from "../../src/models/governor/lane.ts";
import type { RateLimits } from "../../src/models/rate-limits/rate-limits.ts";
import type { VendorLimits } from "../../src/schema/vendor-limits.ts";

const MINUTE = 60_000;
const answered = (tokens = 0) => ({ type: "answered", tokens }) as const;

function laneOf(limits: VendorLimits, ids: readonly number[] = [], model = "m") {
  const lane = new Lane(limits);
  for (const id of ids) lane.join(id, model, 0);
  return lane;
}

const left = (remaining: number, resetAtMs: number): RateLimits => [
  { name: "requests", unit: "requests", remaining, resetAtMs },
];

describe("configured limits", () => {
  test("without any, all requests are admitted at once", () => {
    expect(laneOf({}, [1, 2, 3]).admitNext(0)).toEqual({ admitted: [1, 2, 3] });
  });

  test("the maximum number of requests runs at once, and the one that has waited longest is next", () => {
    const lane = laneOf({ concurrent: 2 }, [1, 2, 3, 4]);
    expect(lane.admitNext(0)).toEqual({ admitted: [1, 2] });
    expect(lane.admitNext(5)).toEqual({ admitted: [] });
    lane.recordEnd(2, answered(), 9);
    expect(lane.admitNext(9)).toEqual({ admitted: [3] });
    lane.leave(4);
    lane.recordEnd(1, { type: "gone" }, 10);
    expect(lane.admitNext(10)).toEqual({ admitted: [] });
  });

  test("the maximum number of requests starts in any minute, and the lane states when the next may start", () => {
    const lane = laneOf({ requestsPerMinute: 2 }, [1]);
    lane.admitNext(0);
    for (const id of [2, 3]) lane.join(id, "m", 0);
    expect(lane.admitNext(40_000)).toEqual({ admitted: [2], wakeAtMs: MINUTE });
    expect(lane.admitNext(MINUTE - 1)).toEqual({ admitted: [], wakeAtMs: MINUTE });
    expect(lane.admitNext(MINUTE)).toEqual({ admitted: [3] });
  });

  test("tokens count by their actual number, and a small request does not overtake a large one", () => {
    const lane = new Lane({ tokensPerMinute: 1000 });
    lane.join(1, "m", 900);
    expect(lane.admitNext(0).admitted).toEqual([1]);
    lane.join(2, "m", 500);
    lane.join(3, "m", 10);
    expect(lane.admitNext(1)).toEqual({ admitted: [], wakeAtMs: MINUTE });
    lane.recordEnd(1, answered(450), 2);
    expect(lane.admitNext(2).admitted).toEqual([2, 3]);
  });

  test("a request larger than a minute's limit is admitted alone", () => {
    const lane = new Lane({ tokensPerMinute: 1000 });
    lane.join(1, "m", 100);
    lane.admitNext(0);
    lane.join(2, "m", 5000);
    expect(lane.admitNext(10)).toEqual({ admitted: [], wakeAtMs: MINUTE });
    expect(lane.admitNext(MINUTE).admitted).toEqual([2]);
  });
});

describe("the limits that the vendor reports", () => {
  test("admit nothing before the reset when nothing remains; running requests count", () => {
    const lane = laneOf({}, [1, 2]);
    lane.admitNext(0);
    lane.recordLimits(1, left(2, 9000), 100);
    for (const id of [3, 4, 5]) lane.join(id, "m", 0);
    expect(lane.admitNext(100)).toEqual({ admitted: [3], wakeAtMs: 9000 });
    expect(lane.admitNext(9000).admitted).toEqual([]);
    lane.recordEnd(2, answered(), 9001);
    lane.recordFirstAnswer(1);
    lane.recordFirstAnswer(3);
    expect(lane.admitNext(9002).admitted).toEqual([4, 5]);
  });

  test("admit as many requests after a reset as they state, or one if they state no number", () => {
    for (const [limit, admitted] of [
      [2, [2, 3]],
      [undefined, [2]],
    ] as const) {
      const lane = laneOf({}, [1]);
      lane.admitNext(0);
      lane.recordLimits(1, [{ name: "requests", unit: "requests", limit, remaining: 0, resetAtMs: 500 }], 1);
      lane.recordEnd(1, answered(), 2);
      for (const id of [2, 3, 4]) lane.join(id, "m", 0);
      expect(lane.admitNext(2)).toEqual({ admitted: [], wakeAtMs: 500 });
      expect(lane.admitNext(500).admitted).toEqual(admitted);
    }
  });

  test("hold back requests when no tokens remain, and none while some do", () => {
    const lane = laneOf({}, [1]);
    lane.admitNext(0);
    lane.recordLimits(1, [{ name: "tokens", unit: "tokens", remaining: 1, resetAtMs: 5000 }], 1);
    lane.join(2, "m", 100_000);
    expect(lane.admitNext(1).admitted).toEqual([2]);
    lane.recordLimits(2, [{ name: "tokens", unit: "tokens", remaining: 0, resetAtMs: 5000 }], 2);
    lane.join(3, "m", 1);
    expect(lane.admitNext(2)).toEqual({ admitted: [], wakeAtMs: 5000 });
  });

  test("are trusted for a minute; a rejection is trusted for its delay, up to a quarter of an hour", () => {
    const lane = laneOf({}, [1]);
    lane.admitNext(0);
    lane.recordLimits(1, left(0, 86_400_000), 0);
    lane.join(2, "m", 0);
    expect(lane.admitNext(1)).toEqual({ admitted: [], wakeAtMs: MINUTE });
    lane.recordEnd(1, { type: "rejected", retryAfterMs: 3_600_000 }, 2);
    expect(lane.admitNext(2)).toEqual({ admitted: [], wakeAtMs: 900_002 });
  });

  test("apply to their model, and delay no other", () => {
    const lane = laneOf({}, [1], "large");
    lane.admitNext(0);
    lane.recordEnd(1, { type: "rejected", retryAfterMs: 7000 }, 0);
    lane.join(2, "large", 0);
    lane.join(3, "small", 0);
    expect(lane.admitNext(1)).toEqual({ admitted: [3], wakeAtMs: 7000 });
  });

  test("admit one request after a rejection, and one more for each that the vendor accepts", () => {
    const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const lane = laneOf({}, ids.slice(0, 3));
    lane.admitNext(0);
    for (const id of [1, 2, 3]) lane.recordEnd(id, { type: "rejected", retryAfterMs: 100 }, 0);
    for (const id of ids.slice(3)) lane.join(id, "m", 0);
    expect(lane.admitNext(100).admitted).toEqual([4]);
    expect(lane.admitNext(101).admitted).toEqual([]);
    expect(lane.recordFirstAnswer(4)).toBe(true);
    expect(lane.admitNext(102).admitted).toEqual([5, 6]);
    lane.recordEnd(5, answered(), 103);
    lane.recordFirstAnswer(6);
    expect(lane.admitNext(104).admitted).toEqual([7, 8, 9]);
  });
});

test("G1, G2 and G3 hold for any sequence of steps", () => {
  const limits = fc.record({
    concurrent: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    requestsPerMinute: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    tokensPerMinute: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
  });
  const what = fc.constantFrom("join", "join", "answered", "rejected", "gone", "seen", "giveUp", "wait");
  const step = fc.record({ what, pick: fc.nat(99), size: fc.nat(200), waitMs: fc.nat(30_000) });
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 60 }), (given, steps) => {
      const lane = new Lane(given as VendorLimits);
      const models = new Map<number, string>();
      const running = new Set<number>();
      const waiting: number[] = [];
      const went: number[] = [];
      let now = 0;
      let wakeAtMs: number | undefined;
      const look = () => {
        const turn = lane.admitNext(now);
        wakeAtMs = turn.wakeAtMs;
        for (const id of turn.admitted) {
          const before = waiting.slice(0, waiting.indexOf(id));
          expect(before.filter((other) => models.get(other) === models.get(id))).toEqual([]);
          waiting.splice(waiting.indexOf(id), 1);
          running.add(id);
          went.push(now);
        }
        expect(running.size).toBeLessThanOrEqual(given.concurrent ?? 1e9);
        const inMinute = went.filter((at) => at > now - MINUTE).length;
        expect(inMinute).toBeLessThanOrEqual(given.requestsPerMinute ?? 1e9);
        if (waiting.length > 0 && running.size === 0) expect(wakeAtMs).toBeGreaterThan(now);
      };
      for (const [id, { what, pick, size, waitMs }] of steps.entries()) {
        now += waitMs;
        const one = [...running][pick % Math.max(1, running.size)];
        if (what === "join") {
          models.set(id, pick % 2 === 0 ? "a" : "b");
          waiting.push(id);
          lane.join(id, models.get(id) as string, size);
        } else if (what === "giveUp") {
          const [gone] = waiting.splice(pick % Math.max(1, waiting.length), 1);
          if (gone !== undefined) lane.leave(gone);
        } else if (one !== undefined && what === "seen") {
          lane.recordLimits(one, left(pick % 4, now + waitMs), now);
        } else if (one !== undefined && what !== "wait") {
          running.delete(one);
          const ending = what === "answered" ? answered(size) : { type: what };
          lane.recordEnd(
            one,
            what === "rejected" ? { type: what, retryAfterMs: waitMs } : (ending as never),
            now,
          );
        }
        look();
      }
      // No request starves: when all running requests end and time passes, every request has had a turn.
      for (let rounds = 0; waiting.length > 0 || running.size > 0; rounds += 1) {
        expect(rounds).toBeLessThan(500);
        for (const id of running) lane.recordEnd(id, answered(1), now);
        running.clear();
        now = Math.max(now, wakeAtMs ?? now);
        look();
      }
    }),
    { numRuns: 300 },
  );
});

test("a waiting request is given the reason, the end of the wait, and the number of requests before it", () => {
  const lane = laneOf({ concurrent: 1 }, [1, 2, 3]);
  lane.admitNext(0);
  expect(lane.waitReasons).toEqual([
    { id: 2, type: "concurrency", ahead: 0 },
    { id: 3, type: "concurrency", ahead: 1 },
  ]);
  const minute = laneOf({ requestsPerMinute: 1 }, [1, 2]);
  minute.admitNext(0);
  expect(minute.waitReasons).toEqual([{ id: 2, type: "rate", untilMs: MINUTE, ahead: 0 }]);
  const closed = laneOf({}, [1]);
  closed.admitNext(0);
  closed.recordEnd(1, { type: "rejected", retryAfterMs: 9_000 }, 0);
  closed.join(2, "m", 0);
  closed.join(3, "other", 0);
  closed.admitNext(1);
  expect(closed.waitReasons).toEqual([{ id: 2, type: "vendor", untilMs: 9_000, ahead: 0 }]);
  closed.admitNext(9_000);
  expect(closed.waitReasons).toEqual([]);
  const both = laneOf({ concurrent: 1 }, [1]);
  both.admitNext(0);
  both.recordEnd(1, { type: "rejected", retryAfterMs: 9_000 }, 0);
  for (const [id, model] of [
    [2, "other"],
    [3, "other"],
    [4, "m"],
  ] as const) {
    both.join(id, model, 0);
  }
  both.admitNext(1);
  expect(both.waitReasons).toEqual([
    { id: 3, type: "concurrency", ahead: 0 },
    { id: 4, type: "vendor", untilMs: 9_000, ahead: 1 },
  ]);
});
