import fc from "fast-check";
import { expect, test } from "vitest";
import { computeIncompleteBeta, computeLogBeta } from "../../../src/evaluation/statistics/beta-function.ts";
import {
  computeNormalProbability,
  computeNormalQuantile,
} from "../../../src/evaluation/statistics/normal-distribution.ts";
import {
  computeStudentQuantile,
  computeStudentTails,
} from "../../../src/evaluation/statistics/student-distribution.ts";

/** Relative; the functions promise about 13 digits. */
const expectNear = (actual: number, expected: number, tolerance = 2e-13): void => {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(tolerance * Math.abs(expected));
};

const probabilities = fc.double({ min: 1e-12, max: 0.5, noNaN: true });

// Expected values: mpmath 1.3 with 40 digits.
test("known values of the normal distribution", () => {
  expectNear(computeNormalProbability(-30), 4.906713927148187e-198);
  expectNear(computeNormalProbability(-2.5), 0.006209665325776132);
  expectNear(computeNormalProbability(1), 0.8413447460685429);
  expectNear(computeNormalQuantile(0.975), 1.959963984540054);
  expectNear(computeNormalQuantile(1e-20), -9.262340089798409);
  expect(computeNormalProbability(-50)).toBe(0);
  expect(computeNormalProbability(50)).toBe(1);
});

test("known quantiles of Student's distribution", () => {
  // One and two degrees of freedom have closed forms.
  for (const p of [0.001, 0.025, 0.2, 0.3, 0.49]) {
    expectNear(computeStudentQuantile(p, 1), -1 / Math.tan(Math.PI * p));
    expectNear(computeStudentQuantile(p, 2), (2 * p - 1) / Math.sqrt(2 * p * (1 - p)));
  }
  expectNear(computeStudentQuantile(0.975, 19), 2.093024054408263);
  expectNear(computeStudentQuantile(0.975, 163), 1.9746246209663614);
});

test("quantiles are the inverse of probabilities", () => {
  fc.assert(
    fc.property(probabilities, fc.integer({ min: 1, max: 4999 }), (probability, degreesOfFreedom) => {
      expectNear(computeNormalProbability(computeNormalQuantile(probability)), probability);
      const t = computeStudentQuantile(probability, degreesOfFreedom);
      expectNear(computeStudentTails(t, degreesOfFreedom) / 2, probability, 1e-12);
    }),
  );
});

test("distributions are symmetric", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2 ** 20 }),
      fc.integer({ min: 1, max: 10_000 }),
      (part, degrees) => {
        // Exact in binary, so that 1 - p is exact.
        const p = part / 2 ** 21;
        expect(computeNormalQuantile(1 - p)).toBe(-computeNormalQuantile(p) || 0);
        expect(computeStudentQuantile(1 - p, degrees)).toBe(-computeStudentQuantile(p, degrees) || 0);
      },
    ),
  );
});

test("with more degrees of freedom Student's quantile comes nearer to the normal one, also where the formula changes", () => {
  const at = (degreesOfFreedom: number) => computeStudentQuantile(0.975, degreesOfFreedom);
  expect(at(4999)).toBeGreaterThan(at(5000));
  expectNear(at(4999.999999), at(5000), 1e-12);
  expectNear(at(1e12), computeNormalQuantile(0.975), 1e-11);
});

test("the beta function", () => {
  expectNear(computeLogBeta(1, 1) + 1, 1);
  expectNear(computeLogBeta(0.5, 0.5), Math.log(Math.PI));
  expectNear(computeLogBeta(2.5, 3.5), Math.log((3 * Math.PI) / 256));
  expectNear(computeIncompleteBeta(2, 3, 0.25, 0.75), 67 / 256);
  expect(computeIncompleteBeta(2, 3, 0, 1)).toBe(0);
  expect(computeIncompleteBeta(2, 3, 1, 0)).toBe(1);
});

test("probabilities outside 0 and 1 and degrees of freedom that are not positive are refused", () => {
  expect(() => computeNormalQuantile(1)).toThrow(
    "The probability of a quantile must be between 0 and 1, both excluded; it is 1.",
  );
  expect(() => computeStudentQuantile(0, 3)).toThrow(RangeError);
  expect(() => computeStudentQuantile(0.5, 0)).toThrow(
    "The degrees of freedom must be positive; they are 0.",
  );
});
