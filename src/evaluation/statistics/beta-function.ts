import { evaluateFraction } from "./continued-fraction.ts";

/** From here on, five terms of the series of Stirling are exact to a double. */
const STIRLING_START = 15;

/**
 * Computes what Stirling's formula for ln Gamma(x) leaves out: 1 / (12 x) - 1 / (360 x^3) + ...
 *
 * Source: M. Abramowitz and I. A. Stegun, 1964, formula 6.1.41.
 */
function computeStirlingError(x: number): number {
  const square = 1 / (x * x);
  return (
    (1 / 12 +
      square *
        (-1 / 360 +
          square * (1 / 1260 + square * (-1 / 1680 + square * (1 / 1188 - (square * 691) / 360360))))) /
    x
  );
}

/**
 * Computes ln B(a, b) = ln(Gamma(a) Gamma(b) / Gamma(a + b)) for positive arguments.
 *
 * The three formulas of Stirling are combined before they are evaluated: their difference would lose digits. Source: A. R.
 * DiDonato and A. H. Morris, "Algorithm 708", ACM Transactions on Mathematical Software 18, 1992 (its functions ALGDIV and
 * BCORR). Small arguments are raised by B(a, b) = B(a + 1, b) (a + b) / a.
 */
export function computeLogBeta(a: number, b: number): number {
  let [x, y] = [a, b];
  let factor = 1;
  for (; x < STIRLING_START; x++) factor *= (x + y) / x;
  for (; y < STIRLING_START; y++) factor *= (x + y) / y;
  const errors = computeStirlingError(x) + computeStirlingError(y) - computeStirlingError(x + y);
  const [least, most] = x < y ? [x, y] : [y, x];
  return (
    Math.log(factor) +
    Math.log(2 * Math.PI) / 2 -
    Math.log(most) / 2 +
    errors +
    (least - 0.5) * Math.log(least / (least + most)) -
    most * Math.log1p(least / most)
  );
}

/**
 * Computes the regularized incomplete beta function I_x(a, b), with about 14 digits.
 *
 * Source: the continued fraction 8.17.22 of the NIST Digital Library of Mathematical Functions, https://dlmf.nist.gov/8.17.
 *
 * @param rest - 1 - x, which the caller may know more exactly than a subtraction.
 */
export function computeIncompleteBeta(a: number, b: number, x: number, rest: number): number {
  if (x <= 0) return 0;
  if (rest <= 0) return 1;
  // The fraction converges fast on one side of the mean only.
  if (x > (a + 1) / (a + b + 2)) return 1 - computeIncompleteBeta(b, a, rest, x);
  const fraction = evaluateFraction(1, (step) => {
    const m = step >> 1;
    if (step === 1) return [(-(a + b) * x) / (a + 1), 1];
    const index = a + 2 * m;
    return step % 2 === 0
      ? [(m * (b - m) * x) / ((index - 1) * index), 1]
      : [(-(a + m) * (a + b + m) * x) / (index * (index + 1)), 1];
  });
  const logX = x < 0.5 ? Math.log(x) : Math.log1p(-rest);
  const logRest = rest < 0.5 ? Math.log(rest) : Math.log1p(-x);
  return Math.exp(a * logX + b * logRest - computeLogBeta(a, b)) / (a * fraction);
}
