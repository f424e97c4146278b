import { assertCount } from "./arguments.ts";
import { computeSum } from "./mean.ts";
import { createRandom } from "./random.ts";
import type { Draws } from "./resamples.ts";

/** Up to this number of differences all sign changes are tried: at most 65,536. */
const MAX_EXACT_DIFFERENCES = 16;

/**
 * The sign changes to try: lists with 1 or -1 for each difference, or a generator to draw them from and their number. By
 * default all are tried up to 16 differences; for more, 9,999 are drawn from a fixed seed.
 */
export type SignChanges = readonly (readonly number[])[] | Draws;

/** The number is that of `scipy.stats.permutation_test`. With a fixed seed, the same differences have the same p-value. */
const createDefaultDraws = (): Draws => ({ random: createRandom(1), count: 9999 });

/**
 * Computes the two-sided p-value of the mean of differences under random signs.
 *
 * It is twice the smaller of two shares of sign changes: those whose mean is at most the observed one, and those whose mean is
 * at least the observed one. Drawn or given sign changes include the observed one in addition, so that the value is never 0.
 * Sources: R. A. Fisher, "The Design of Experiments", 1935, section 21; B. Phipson and G. K. Smyth, "Permutation P-values
 * Should Never Be Zero", Statistical Applications in Genetics and Molecular Biology 9, 2010. The same as
 * `scipy.stats.permutation_test` with `permutation_type="samples"`.
 */
export function computePermutationPValue(differences: readonly number[], signChanges?: SignChanges): number {
  const observed = computeSum(differences);
  // Sums that are equal in theory may differ by rounding, such as 0.1 + 0.2 and 0.3.
  const tolerance = 100 * Number.EPSILON * computeSum(differences.map(Math.abs));
  let total = 0;
  let atMost = 0;
  let atLeast = 0;
  const count = (sum: number): void => {
    total++;
    if (sum <= observed + tolerance) atMost++;
    if (sum >= observed - tolerance) atLeast++;
  };
  if (signChanges === undefined && differences.length <= MAX_EXACT_DIFFERENCES) {
    visitAllSums(differences, count);
  } else {
    count(observed);
    visitSums(differences, signChanges ?? createDefaultDraws(), count);
  }
  return Math.min(1, (2 * Math.min(atMost, atLeast)) / total);
}

function visitAllSums(differences: readonly number[], visit: (sum: number) => void): void {
  const addFrom = (index: number, sum: number): void => {
    const difference = differences[index];
    if (difference === undefined) {
      visit(sum);
    } else {
      addFrom(index + 1, sum + difference);
      addFrom(index + 1, sum - difference);
    }
  };
  addFrom(0, 0);
}

function visitSums(
  differences: readonly number[],
  signChanges: SignChanges,
  visit: (sum: number) => void,
): void {
  const isDrawn = "random" in signChanges;
  const count = isDrawn ? signChanges.count : signChanges.length;
  assertCount("The number of permutations", count, 1);
  for (let index = 0; index < count; index++) {
    const readSign = isDrawn
      ? () => 1 - 2 * signChanges.random.nextInt(2)
      : (position: number) => signChanges[index]?.[position];
    visit(computeSum(differences.map((difference, position) => difference * assertSign(readSign(position)))));
  }
}

function assertSign(sign: number | undefined): number {
  if (sign === 1 || sign === -1) return sign;
  throw new RangeError(`A permutation needs 1 or -1 for each difference; one is ${sign}.`);
}
