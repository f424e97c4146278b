import fc from "fast-check";
import { expect, test } from "vitest";
import {
  adjustBenjaminiHochberg,
  adjustHolm,
  comparePaired,
  computeTInterval,
  createRandom,
  testMcnemar,
} from "../../../src/evaluation/statistics/index.ts";

const numbers = fc.integer({ min: -80, max: 80 }).map((tenths) => tenths / 10);
const fewDifferences = fc.array(numbers, { minLength: 2, maxLength: 8 });
const pValues = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
const counts = fc.tuple(fc.nat(40), fc.nat(40), fc.nat(40));

test("a known paired comparison: two of eight sign changes are at least as far from 0", () => {
  const { difference, pValue, effectSize, interval } = comparePaired([1, 2, 3]);
  expect([difference, pValue, effectSize]).toEqual([2, 0.25, 2]);
  expect(interval).toEqual(computeTInterval([1, 2, 3]));
});

test("the exact p-value is the share of all sign changes that are at least as far from 0", () => {
  fc.assert(
    fc.property(fewDifferences, (differences) => {
      const total = 2 ** differences.length;
      // Whole tenths add up exactly.
      const tenths = differences.map((difference) => Math.round(10 * difference));
      const observed = Math.abs(tenths.reduce((sum, tenth) => sum + tenth, 0));
      let count = 0;
      for (let mask = 0; mask < total; mask++) {
        const sum = tenths.reduce((rest, tenth, index) => rest + ((mask >> index) & 1 ? tenth : -tenth), 0);
        if (Math.abs(sum) >= observed) count++;
      }
      expect(comparePaired(differences).pValue).toBe(count / total);
    }),
  );
});

test("swapping the agents changes the sign and nothing else", () => {
  fc.assert(
    fc.property(fewDifferences, (differences) => {
      const one = comparePaired(differences);
      const other = comparePaired(differences.map((difference) => -difference));
      expect(other.difference).toBe(0 - one.difference);
      expect(other.pValue).toBe(one.pValue);
      expect(other.interval.low).toBeCloseTo(-one.interval.high, 10);
    }),
    { examples: [[[0, 0]]] },
  );
});

test("drawn sign changes come near to the exact p-value, and their p-value is never 0", () => {
  const differences = [3, -1, 2, 4, 1, 2, -2, 5, 3, 1];
  const exact = comparePaired(differences).pValue;
  const draws = { random: createRandom(3), count: 20_000 };
  expect(Math.abs(comparePaired(differences, { permutations: draws }).pValue - exact)).toBeLessThan(0.005);
  const strong = Array.from({ length: 100 }, () => 1);
  expect(comparePaired(strong).pValue).toBe(2 / 10_000);
  expect(comparePaired(strong)).toEqual(comparePaired(strong));
});

test("given sign changes count beside the observed one", () => {
  const permutations = [
    [1, 1],
    [-1, -1],
    [1, -1],
  ];
  // At least as high: the observed one and the first. At most as high: all four.
  expect(comparePaired([1, 2], { permutations }).pValue).toBe(1);
  expect(comparePaired([1, 2], { permutations: Array.from({ length: 7 }, () => [-1, 1]) }).pValue).toBe(
    2 / 8,
  );
});

test("differences that are all the same have no effect size, and a given interval is reported", () => {
  expect(comparePaired([2, 2, 2])).toEqual({
    difference: 2,
    pValue: 0.25,
    effectSize: undefined,
    interval: { low: 2, high: 2 },
  });
  expect(comparePaired([0, 0]).pValue).toBe(1);
  const interval = { low: -1, high: 1 };
  expect(comparePaired([1, 2], { interval }).interval).toBe(interval);
});

test("known results of McNemar's test", () => {
  // R: 2 * pbinom(2, 12, 0.5).
  expect(testMcnemar(10, 2, 50).pValue).toBeCloseTo(0.03857421875, 14);
  expect(testMcnemar(10, 2, 50).difference).toBe(0.16);
  expect(testMcnemar(0, 0, 5).pValue).toBe(1);
  expect(testMcnemar(4, 4, 8).pValue).toBe(1);
  // 5000 tasks: powers of 2 beyond the range of a double on the way.
  expect(testMcnemar(2400, 2600, 5000).pValue).toBeCloseTo(0.004879, 5);
});

test("the p-value of McNemar's test is that of a fair coin", () => {
  fc.assert(
    fc.property(fc.nat(20), fc.nat(20), (onlyFirst, onlySecond) => {
      const throws = onlyFirst + onlySecond;
      let ways = 1;
      let tail = 0;
      for (let heads = 0; heads <= Math.min(onlyFirst, onlySecond); heads++) {
        tail += ways;
        ways = (ways * (throws - heads)) / (heads + 1);
      }
      const expected = Math.min(1, (2 * tail) / 2 ** throws);
      expect(testMcnemar(onlyFirst, onlySecond, throws + 1).pValue).toBeCloseTo(expected, 12);
    }),
  );
});

test("the interval of McNemar's test stays between -1 and 1, and swaps its ends with the agents", () => {
  fc.assert(
    fc.property(counts, ([onlyFirst, onlySecond, others]) => {
      const n = onlyFirst + onlySecond + others + 1;
      const { pValue, interval } = testMcnemar(onlyFirst, onlySecond, n);
      expect(-1 <= interval.low && interval.low < interval.high && interval.high <= 1).toBe(true);
      const swapped = testMcnemar(onlySecond, onlyFirst, n);
      expect(swapped.pValue).toBe(pValue);
      expect(swapped.interval.low).toBeCloseTo(-interval.high, 12);
    }),
  );
});

test("known adjusted p-values", () => {
  // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") and "BH".
  expectAll(adjustHolm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
  expectAll(adjustBenjaminiHochberg([0.01, 0.04, 0.03, 0.005]), [0.02, 0.04, 0.04, 0.02]);
  expect(adjustHolm([])).toEqual([]);
  expect(adjustHolm([0.2])).toEqual([0.2]);
});

test("adjusted p-values are not smaller, keep their order, and Holm's are the larger ones", () => {
  fc.assert(
    fc.property(pValues, (values) => {
      const holm = adjustHolm(values);
      const hochberg = adjustBenjaminiHochberg(values);
      for (const [index, value] of values.entries()) {
        expect(hochberg[index]!).toBeGreaterThanOrEqual(value);
        expect(holm[index]!).toBeGreaterThanOrEqual(hochberg[index]! - 1e-15);
        expect(holm[index]!).toBeLessThanOrEqual(1);
        for (const [other, another] of values.entries()) {
          if (value < another) expect(holm[index]! <= holm[other]!).toBe(true);
          if (value < another) expect(hochberg[index]! <= hochberg[other]!).toBe(true);
        }
      }
    }),
  );
});

test("impossible counts, signs and p-values are refused", () => {
  expect(() => comparePaired([1])).toThrow(RangeError);
  expect(() => comparePaired([1, 2], { permutations: [[1]] })).toThrow("one is undefined.");
  expect(() => comparePaired([1, 2], { permutations: [[1, 0.5]] })).toThrow("one is 0.5.");
  expect(() => comparePaired([1, 2], { permutations: [] })).toThrow(RangeError);
  expect(() => testMcnemar(3, 3, 5)).toThrow(RangeError);
  expect(() => adjustHolm([0.5, 1.5])).toThrow("A p-value must be between 0 and 1; one is 1.5.");
});

function expectAll(actual: readonly number[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  for (const [index, value] of expected.entries()) expect(actual[index]).toBeCloseTo(value, 14);
}
