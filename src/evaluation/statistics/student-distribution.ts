import { assertProbability } from "./arguments.ts";
import { computeIncompleteBeta, computeLogBeta } from "./beta-function.ts";
import { computeNormalQuantile } from "./normal-distribution.ts";

/** Newton's method needs at most about ten steps; each then doubles the number of exact digits. */
const MAX_STEPS = 100;

/** From here on, four corrections of the normal distribution have more exact digits than the incomplete beta function. */
const LARGE_DEGREES = 5000;

/** A step below this share of the number changes only its last digits. */
const PRECISION = 4 * Number.EPSILON;

/**
 * Computes the probability that a number of Student's t distribution is farther from 0 than `t`.
 *
 * Source: M. Abramowitz and I. A. Stegun, 1964, formula 26.7.1 with 26.5.27: I_x(df / 2, 1 / 2) with x = df / (df + t^2).
 */
export function computeStudentTails(t: number, degreesOfFreedom: number): number {
  const total = degreesOfFreedom + t * t;
  return computeIncompleteBeta(degreesOfFreedom / 2, 0.5, degreesOfFreedom / total, (t * t) / total);
}

/** Computes the probability that a number of Student's t distribution is nearer to 0 than `t`. */
function computeStudentMiddle(t: number, degreesOfFreedom: number): number {
  const total = degreesOfFreedom + t * t;
  return computeIncompleteBeta(0.5, degreesOfFreedom / 2, (t * t) / total, degreesOfFreedom / total);
}

/** Computes the density of Student's t distribution. */
export function computeStudentDensity(t: number, degreesOfFreedom: number): number {
  return Math.exp(
    -computeLogBeta(degreesOfFreedom / 2, 0.5) -
      Math.log(degreesOfFreedom) / 2 -
      ((degreesOfFreedom + 1) / 2) * Math.log1p((t * t) / degreesOfFreedom),
  );
}

/**
 * Computes the number below which a number of Student's t distribution lies with this probability, with about 13 digits.
 *
 * Newton's method runs on the logarithms of `t` and of the smaller of two probabilities: to be nearer to 0 or to be farther.
 * Both are concave there, so that after the first step all steps go in one direction and none is too long.
 */
export function computeStudentQuantile(probability: number, degreesOfFreedom: number): number {
  assertProbability("The probability of a quantile", probability);
  if (!(degreesOfFreedom > 0)) {
    throw new RangeError(`The degrees of freedom must be positive; they are ${degreesOfFreedom}.`);
  }
  if (probability === 0.5) return 0;
  if (probability > 0.5) return -computeStudentQuantile(1 - probability, degreesOfFreedom);
  if (degreesOfFreedom >= LARGE_DEGREES) {
    return correctNormalQuantile(computeNormalQuantile(probability), degreesOfFreedom);
  }
  const isMiddle = probability > 0.25;
  const target = isMiddle ? 1 - 2 * probability : 2 * probability;
  const compute = isMiddle ? computeStudentMiddle : computeStudentTails;
  // Both starting points are too near to 0.
  let t = isMiddle
    ? target / (2 * computeStudentDensity(0, degreesOfFreedom))
    : -computeNormalQuantile(probability);
  for (let step = 0; step < MAX_STEPS; step++) {
    const reached = compute(t, degreesOfFreedom);
    const slope = ((isMiddle ? 2 : -2) * t * computeStudentDensity(t, degreesOfFreedom)) / reached;
    const change = Math.log(target / reached) / slope;
    t *= Math.exp(change);
    if (Math.abs(change) <= PRECISION) break;
  }
  return -t;
}

/** Source: Abramowitz and Stegun, formula 26.7.5. The first omitted term is in the order of z^11 / (100 df^5). */
function correctNormalQuantile(z: number, degreesOfFreedom: number): number {
  const s = z * z;
  const corrections = [
    ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) / 92160,
    (((3 * s + 19) * s + 17) * s - 15) / 384,
    ((5 * s + 16) * s + 3) / 96,
    (s + 1) / 4,
    1,
  ];
  return z * corrections.reduce((sum, correction) => sum / degreesOfFreedom + correction, 0);
}
