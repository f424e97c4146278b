import fc from "fast-check";
import { expect, test } from "vitest";
import {
  computeBcaInterval,
  computeClusteredInterval,
  computeMean,
  computeMedian,
  computeTInterval,
  computeWilsonInterval,
  createRandom,
  drawResamples,
  type Interval,
} from "../../../src/evaluation/statistics/index.ts";

const numbers = fc.integer({ min: -1000, max: 1000 }).map((eighths) => eighths / 8);
const someValues = fc.array(numbers, { minLength: 2, maxLength: 20 });
const rates = fc
  .integer({ min: 1, max: 500 })
  .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));

const contains = ({ low, high }: Interval, number: number) => low <= number && number <= high;

test("known intervals", () => {
  // R: prop.test(8, 10, correct = FALSE), t.test(c(1, 2, 3, 4)).
  expectEnds(computeWilsonInterval(8, 10), 0.490162, 0.943318, 6);
  expectEnds(computeTInterval([1, 2, 3, 4]), 0.4457397, 4.5542603, 6);
});

test("Wilson's interval contains the rate, stays between 0 and 1, and narrows with less confidence", () => {
  fc.assert(
    fc.property(rates, ([successes, n]) => {
      const interval = computeWilsonInterval(successes, n);
      expect(contains(interval, successes / n)).toBe(true);
      expect(interval.low >= 0 && interval.high <= 1 && interval.low < interval.high).toBe(true);
      const narrow = computeWilsonInterval(successes, n, 0.8);
      expect(narrow.high - narrow.low).toBeLessThan(interval.high - interval.low);
      // Failures mirror successes.
      const mirrored = computeWilsonInterval(n - successes, n);
      expect(mirrored.low).toBeCloseTo(1 - interval.high, 12);
    }),
  );
});

test("Wilson's interval is not empty where all attempts end the same way", () => {
  expectEnds(computeWilsonInterval(0, 10), 0, 0.277533, 6);
  expectEnds(computeWilsonInterval(10, 10), 0.722467, 1, 6);
  expect(computeWilsonInterval(0, 10).low).toBe(0);
  expect(computeWilsonInterval(10, 10).high).toBe(1);
});

test("the t interval lies symmetrically around the mean, and moves and grows with the values", () => {
  fc.assert(
    fc.property(someValues, numbers, (values, shift) => {
      const { low, high } = computeTInterval(values);
      expect((low + high) / 2).toBeCloseTo(computeMean(values), 8);
      expectEnds(computeTInterval(values.map((value) => value + shift)), low + shift, high + shift, 7);
      expectEnds(computeTInterval(values.map((value) => -2 * value)), -2 * high, -2 * low, 7);
    }),
  );
});

test("with a value in each cluster the clustered interval is the t interval", () => {
  fc.assert(
    fc.property(someValues, (values) => {
      const { low, high, mean } = computeClusteredInterval(
        values,
        values.map((_, index) => index),
      );
      expect(mean).toBe(computeMean(values));
      const plain = computeTInterval(values);
      expectEnds({ low, high }, plain.low, plain.high, 8);
    }),
  );
});

test("values that their cluster repeats say no more than one of them: the interval of the clusters' means", () => {
  fc.assert(
    fc.property(someValues, fc.integer({ min: 1, max: 5 }), (values, repeats) => {
      const repeated = values.flatMap((value) => Array.from({ length: repeats }, () => value));
      const clusters = repeated.map((_, index) => Math.floor(index / repeats));
      const plain = computeTInterval(values);
      expectEnds(computeClusteredInterval(repeated, clusters), plain.low, plain.high, 8);
    }),
  );
});

test("the names and the order of clusters do not matter", () => {
  const values = [1, 0, 1, 1, 0, 0];
  const expected = computeClusteredInterval(values, [1, 1, 2, 2, 3, 3]);
  expect(computeClusteredInterval(values, [-7, -7, 40, 40, 0, 0])).toEqual(expected);
  expect(computeClusteredInterval([...values].reverse(), [3, 3, 2, 2, 1, 1])).toEqual(expected);
});

test("the bootstrap interval is the same from a generator and from the resamples that it would draw", () => {
  fc.assert(
    fc.property(someValues, fc.nat(), (values, seed) => {
      const given = drawResamples(createRandom(seed), values.length, 100);
      const drawn = { random: createRandom(seed), count: 100 };
      expect(computeBcaInterval(values, { resamples: drawn })).toEqual(
        computeBcaInterval(values, { resamples: given }),
      );
    }),
  );
});

test("the bootstrap interval lies among the values, and moves with them", () => {
  fc.assert(
    fc.property(someValues, numbers, (values, shift) => {
      const resamples = drawResamples(createRandom(1), values.length, 100);
      for (const statistic of [computeMean, computeMedian]) {
        const { low, high } = computeBcaInterval(values, { resamples, statistic });
        expect(low).toBeLessThanOrEqual(high);
        expect(low >= Math.min(...values) && high <= Math.max(...values)).toBe(true);
        const moved = values.map((value) => value + shift);
        expectEnds(computeBcaInterval(moved, { resamples, statistic }), low + shift, high + shift, 8);
      }
    }),
  );
});

test("a skewed sample has a bootstrap interval that reaches farther to the long side", () => {
  const values = Array.from({ length: 40 }, (_, index) => Math.exp(index / 10));
  const mean = computeMean(values);
  const { low, high } = computeBcaInterval(values, { resamples: { random: createRandom(1), count: 1000 } });
  expect(high - mean).toBeGreaterThan(1.1 * (mean - low));
});

test("values that are all the same have a bootstrap interval without width", () => {
  const resamples = { random: createRandom(1), count: 10 };
  expect(computeBcaInterval([1, 1, 1], { resamples })).toEqual({ low: 1, high: 1 });
});

test("an estimate beyond all its resamples, and a statistic that does not vary, still have an interval", () => {
  const beyond = computeBcaInterval([0, 1, 2], { resamples: [[0, 0, 0]] });
  expect(beyond).toEqual({ low: 0, high: 0 });
  const constant = computeBcaInterval([0, 1, 2], { resamples: [[0, 1, 2]], statistic: () => 5 });
  expect(constant).toEqual({ low: 5, high: 5 });
});

test("too few values, clusters or attempts are refused", () => {
  const resamples = { random: createRandom(1), count: 10 };
  expect(() => computeTInterval([1])).toThrow("must have at least 2 numbers; there are 1.");
  expect(() => computeTInterval([1, 2], 95)).toThrow(
    "The confidence must be between 0 and 1, both excluded; it is 95.",
  );
  expect(() => computeWilsonInterval(1, 0)).toThrow(RangeError);
  expect(() => computeClusteredInterval([1, 2], [1, 1])).toThrow("at least two clusters");
  expect(() => computeClusteredInterval([1, 2, 3], [1, 2])).toThrow("3 values, 2 clusters");
  expect(() => computeBcaInterval([1], { resamples })).toThrow(RangeError);
  expect(() => computeBcaInterval([1, 2], { resamples: [] })).toThrow(RangeError);
  expect(() => computeBcaInterval([1, 2], { resamples: [[0, 2]] })).toThrow("A resample names value 2 of 2.");
});

function expectEnds(
  { low, high }: Interval,
  expectedLow: number,
  expectedHigh: number,
  digits: number,
): void {
  expect(low).toBeCloseTo(expectedLow, digits);
  expect(high).toBeCloseTo(expectedHigh, digits);
}
