import { assertCount } from "./arguments.ts";

/**
 * Estimates the probability that at least one of `k` attempts passes: 1 - C(n - c, k) / C(n, k).
 *
 * The estimate is unbiased. Source: M. Chen et al., "Evaluating Large Language Models Trained on Code", 2021,
 * arXiv:2107.03374, equation 1 and figure 3.
 *
 * @param n - How many attempts were made.
 * @param c - How many of them passed.
 * @param k - From 1 to `n`.
 */
export function computePassAtK(n: number, c: number, k: number): number {
  assertAttempts(n, c, k);
  return 1 - divideChoices(n - c, n, k);
}

/**
 * Estimates the probability that all of `k` attempts pass: C(c, k) / C(n, k).
 *
 * The estimate is unbiased. Source: S. Yao et al., "tau-bench", 2024, arXiv:2406.12045, section 3.
 *
 * @param n - How many attempts were made.
 * @param c - How many of them passed.
 * @param k - From 1 to `n`.
 */
export function computePassHatK(n: number, c: number, k: number): number {
  assertAttempts(n, c, k);
  return divideChoices(c, n, k);
}

function assertAttempts(n: number, c: number, k: number): void {
  assertCount("The number of attempts", n, 1);
  assertCount("The number of passed attempts", c, 0, n);
  assertCount("The k of a pass rate", k, 1, n);
}

/** Computes C(m, k) / C(n, k) as a product of factors up to 1, because the binomial coefficients overflow. */
function divideChoices(m: number, n: number, k: number): number {
  if (m < k) return 0;
  let ratio = 1;
  for (let i = 0; i < k; i++) ratio *= (m - i) / (n - i);
  return ratio;
}
