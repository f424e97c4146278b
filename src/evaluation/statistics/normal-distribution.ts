import { assertProbability } from "./arguments.ts";
import { evaluateFraction } from "./continued-fraction.ts";

/** Beyond this distance from 0 the continued fraction of a tail converges faster than the series of the middle. */
const TAIL_START = 2.5;

/** Beyond this distance from 0 a tail is smaller than the smallest double. */
const TAIL_END = 39;

/** Computes the probability that a standard normal number is below `z`, with about 15 digits in the lower tail too. */
export function computeNormalProbability(z: number): number {
  if (z < -TAIL_START) return computeNormalTail(-z);
  if (z > TAIL_START) return 1 - computeNormalTail(z);
  return 0.5 + computeNormalDensity(z) * sumMiddle(z);
}

/** Computes the density of the standard normal distribution. */
export function computeNormalDensity(z: number): number {
  return Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
}

/** Sums z + z^3 / 3 + z^5 / (3 * 5) + ... Source: M. Abramowitz and I. A. Stegun, 1964, formula 26.2.11. */
function sumMiddle(z: number): number {
  let term = z;
  let sum = z;
  for (let odd = 3; Math.abs(term) > Math.abs(sum) * Number.EPSILON; odd += 2) {
    term *= (z * z) / odd;
    sum += term;
  }
  return sum;
}

/** Computes the probability above `z`. Source: Abramowitz and Stegun, formula 26.2.14: z + 1 / (z + 2 / (z + ...)). */
function computeNormalTail(z: number): number {
  if (z > TAIL_END) return 0;
  return computeNormalDensity(z) / evaluateFraction(z, (step) => [step, z]);
}

/**
 * Computes the number below which a standard normal number lies with this probability, with about 15 digits.
 *
 * Source: M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied Statistics 37, 1988
 * (PPND16). Its coefficients are rounded to the nearest double.
 */
export function computeNormalQuantile(probability: number): number {
  assertProbability("The probability of a quantile", probability);
  const distance = probability - 0.5;
  if (Math.abs(distance) <= 0.425) {
    const r = 0.180625 - distance * distance;
    return (distance * evaluatePolynomial(MIDDLE.above, r)) / evaluatePolynomial(MIDDLE.below, r);
  }
  const r = Math.sqrt(-Math.log(distance < 0 ? probability : 1 - probability));
  const { above, below, shift } = r <= 5 ? TAIL : FAR_TAIL;
  const size = evaluatePolynomial(above, r - shift) / evaluatePolynomial(below, r - shift);
  return distance < 0 ? -size : size;
}

/** @param coefficients - From the highest power to the constant. */
function evaluatePolynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
}

const MIDDLE = {
  above: [
    2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946,
    1971.5909503065513, 133.14166789178438, 3.3871328727963665,
  ],
  below: [
    5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751,
    687.1870074920579, 42.31333070160091, 1,
  ],
};

const TAIL = {
  shift: 1.6,
  above: [
    0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
    5.769497221460691, 4.630337846156546, 1.4234371107496835,
  ],
  below: [
    1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
    1.6763848301838038, 2.053191626637759, 1,
  ],
};

const FAR_TAIL = {
  shift: 5,
  above: [
    2.0103343992922881e-7, 2.7115555687434876e-5, 0.0012426609473880784, 0.026532189526576124,
    0.29656057182850487, 1.7848265399172913, 5.463784911164114, 6.657904643501103,
  ],
  below: [
    2.0442631033899397e-15, 1.421511758316446e-7, 1.8463183175100548e-5, 0.0007868691311456133,
    0.014875361290850615, 0.1369298809227358, 0.599832206555888, 1,
  ],
};
