import { describe, expect, test } from "vitest";
import { addCosts, type Cost, compareCosts, computeCost, sumCosts } from "../../src/core/budget/usage.ts";

describe("a cost", () => {
  test("that is unknown makes a sum unknown", () => {
    expect(addCosts(1, 2)).toBe(3);
    expect([addCosts(null, 2), addCosts(1, null), addCosts(null, null)]).toEqual([null, null, null]);
    expect(sumCosts([])).toBe(0);
    expect(sumCosts([1, 2, 4])).toBe(7);
    expect(sumCosts([1, null, 4])).toBeNull();
  });

  test("that is unknown comes last, and equals another one", () => {
    const costs: readonly Cost[] = [null, 3, null, 0, 2];
    expect(costs.toSorted(compareCosts)).toEqual([0, 2, 3, null, null]);
    expect([compareCosts(null, null), compareCosts(null, -1), compareCosts(1, null)]).toEqual([0, 1, -1]);
    expect([compareCosts(2, 2), compareCosts(1, 3), compareCosts(3, 1)]).toEqual([0, -2, 2]);
  });

  test("of an answer is unknown without prices", () => {
    const usage = { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
    expect(computeCost(usage, null)).toBeNull();
  });

  test("of an answer has the prices of a long question when it is longer than the limit for it", () => {
    const charge = (price: number) => ({
      ...{ input: price, output: price, cacheRead: price, cacheWrite: price },
    });
    const rates = { ...charge(1), dearer: { ...charge(10), above: 6e6 } };
    const usage = {
      ...{ input: 1e6, cacheRead: 2e6, cacheWrite: 3e6, output: 4e6 },
      ...{ reasoning: 0, totalTokens: 10e6 },
    };
    expect(computeCost(usage, rates)).toBe(10);
    for (const part of ["input", "cacheRead", "cacheWrite"] as const) {
      expect(computeCost({ ...usage, [part]: usage[part] + 1 }, rates)).toBeCloseTo(100, 3);
    }
    expect(computeCost({ ...usage, output: 9e6 }, rates)).toBe(15);
    expect(computeCost(usage, rates, 6e6 + 1)).toBe(100);
    expect(computeCost({ ...usage, input: 2e6 }, rates, 6e6)).toBe(11);
  });
});
