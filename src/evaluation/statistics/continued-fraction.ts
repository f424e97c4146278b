/** Enough for every fraction of this folder: the slowest, of a beta function, needs some square roots of its arguments. */
const MAX_STEPS = 100_000;

/** Replaces a denominator of 0, which the next step divides by. */
const SMALLEST = 1e-300;

/**
 * Evaluates b0 + a1 / (b1 + a2 / (b2 + ...)) until a step changes nothing.
 *
 * Source: the modified Lentz method of I. J. Thompson and A. R. Barnett, "Coulomb and Bessel functions of complex arguments
 * and order", Journal of Computational Physics 64, 1986.
 *
 * @param first - b0, which is not 0.
 * @param terms - Returns [a, b] of a step; steps count from 1.
 */
export function evaluateFraction(
  first: number,
  terms: (step: number) => readonly [a: number, b: number],
): number {
  let value = first;
  let above = first;
  let below = 0;
  for (let step = 1; step <= MAX_STEPS; step++) {
    const [a, b] = terms(step);
    below = 1 / avoidZero(b + a * below);
    above = avoidZero(b + a / above);
    const change = above * below;
    value *= change;
    if (Math.abs(change - 1) <= Number.EPSILON) return value;
  }
  throw new Error(`A continued fraction did not converge in ${MAX_STEPS} steps.`);
}

function avoidZero(value: number): number {
  return Math.abs(value) < SMALLEST ? SMALLEST : value;
}
