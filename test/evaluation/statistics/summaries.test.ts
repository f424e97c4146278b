import fc from "fast-check";
import { expect, test } from "vitest";
import {
  computeMean,
  computeMedian,
  computePassAtK,
  computePassHatK,
  computeVariance,
} from "../../../src/evaluation/statistics/index.ts";

/** Of similar sizes: a sum of numbers whose sizes differ by 16 orders of magnitude depends on their order. */
const numbers = fc
  .tuple(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), fc.constantFrom(-1, 0, 1))
  .map(([size, sign]) => sign * size || 0);
const someValues = fc.array(numbers, { minLength: 2, maxLength: 40 });
/** Attempts, how many of them passed, and a k. */
const attempts = fc
  .integer({ min: 1, max: 200 })
  .chain((n) => fc.tuple(fc.constant(n), fc.integer({ min: 0, max: n }), fc.integer({ min: 1, max: n })));

test("known values", () => {
  expect(computeMean([1, 2, 4])).toBe(7 / 3);
  expect(computeMedian([5, 1, 3])).toBe(3);
  expect(computeMedian([4, 1, 3, 2])).toBe(2.5);
  expect(computeVariance([1, 2, 3, 4])).toBeCloseTo(5 / 3, 14);
});

test("sums lose nothing where plain additions do", () => {
  expect(computeMean([1e16, 1, -1e16, 1])).toBe(0.5);
  expect(computeMean(Array.from({ length: 10 }, () => 0.1))).toBe(0.1);
  // The variance of three neighbours, far from 0: the sum of squares minus the square of the sum would be nonsense.
  expect(computeVariance([1e9, 1e9 + 1, 1e9 + 2])).toBe(1);
});

test("the mean does not depend on the order, and lies between the smallest and the largest value", () => {
  fc.assert(
    fc.property(someValues, (values) => {
      const mean = computeMean(values);
      const scale = Math.max(...values.map(Math.abs));
      expect(Math.abs(computeMean([...values].reverse()) - mean)).toBeLessThanOrEqual(1e-25 * scale);
      expect(Math.abs(computeMean([...values].sort((a, b) => a - b)) - mean)).toBeLessThanOrEqual(
        1e-25 * scale,
      );
      // The last digit of the division may be wrong.
      expect(mean).toBeGreaterThanOrEqual(Math.min(...values) - 1e-15 * scale);
      expect(mean).toBeLessThanOrEqual(Math.max(...values) + 1e-15 * scale);
    }),
  );
});

test("half of the values are on each side of the median", () => {
  fc.assert(
    fc.property(someValues, (values) => {
      const median = computeMedian(values);
      expect(values.filter((value) => value < median).length).toBeLessThanOrEqual(values.length / 2);
      expect(values.filter((value) => value > median).length).toBeLessThanOrEqual(values.length / 2);
    }),
  );
});

test("the variance is not negative, and is 0 for values that are all the same", () => {
  fc.assert(
    fc.property(someValues, numbers, (values, number) => {
      expect(computeVariance(values)).toBeGreaterThanOrEqual(0);
      expect(computeVariance([number, number, number])).toBe(0);
    }),
  );
});

test("pass@k and pass^k of known attempts", () => {
  expect(computePassAtK(10, 3, 1)).toBeCloseTo(0.3, 15);
  expect(computePassAtK(4, 2, 2)).toBeCloseTo(5 / 6, 15);
  expect(computePassHatK(4, 2, 2)).toBeCloseTo(1 / 6, 15);
  expect(computePassAtK(5, 3, 3)).toBe(1);
  expect(computePassHatK(5, 3, 4)).toBe(0);
  // The binomial coefficients are far beyond the largest double.
  expect(computePassAtK(5000, 2500, 2000)).toBe(1);
});

test("with one attempt both are the pass rate; with more attempts one rises and the other falls", () => {
  fc.assert(
    fc.property(attempts, ([n, c, k]) => {
      expect(computePassAtK(n, c, 1)).toBeCloseTo(c / n, 12);
      expect(computePassHatK(n, c, 1)).toBeCloseTo(c / n, 12);
      if (k === n) return;
      expect(computePassAtK(n, c, k + 1)).toBeGreaterThanOrEqual(computePassAtK(n, c, k) - 1e-12);
      expect(computePassHatK(n, c, k + 1)).toBeLessThanOrEqual(computePassHatK(n, c, k));
    }),
  );
});

test("no attempt fails is what the other number says about failures", () => {
  fc.assert(
    fc.property(attempts, ([n, c, k]) => {
      expect(computePassAtK(n, c, k)).toBeCloseTo(1 - computePassHatK(n, n - c, k), 12);
    }),
  );
});

test("they are unbiased: over all samples of k attempts, the share with a pass and the share without a failure", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), fc.nat(), (results, number) => {
      const k = 1 + (number % results.length);
      const samples = listSamples(results, k);
      const passed = results.filter(Boolean).length;
      const any = samples.filter((sample) => sample.includes(true)).length / samples.length;
      const all = samples.filter((sample) => !sample.includes(false)).length / samples.length;
      expect(computePassAtK(results.length, passed, k)).toBeCloseTo(any, 12);
      expect(computePassHatK(results.length, passed, k)).toBeCloseTo(all, 12);
    }),
  );
});

function listSamples<T>(items: readonly T[], k: number): readonly (readonly T[])[] {
  if (k === 0) return [[]];
  return items.flatMap((item, index) =>
    listSamples(items.slice(index + 1), k - 1).map((rest) => [item, ...rest]),
  );
}

test("values that are missing, not finite or impossible are refused", () => {
  expect(() => computeMean([])).toThrow("The values of a mean must have at least 1 numbers; there are 0.");
  expect(() => computeMedian([1, Number.NaN])).toThrow(
    "The values of a median must be finite; number 2 is NaN.",
  );
  expect(() => computeVariance([1])).toThrow(RangeError);
  expect(() => computePassAtK(3, 4, 1)).toThrow(
    "The number of passed attempts must be a whole number, between 0 and 3; it is 4.",
  );
  expect(() => computePassHatK(3, 1, 0)).toThrow(RangeError);
  expect(() => computePassHatK(0, 0, 1)).toThrow(RangeError);
});
