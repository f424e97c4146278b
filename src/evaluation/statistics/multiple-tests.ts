/**
 * Adjusts the p-values of several tests, so that the probability of any false finding stays below the chosen limit.
 *
 * Source: S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6, 1979.
 *
 * @returns The adjusted p-values in the order of the given ones.
 */
export function adjustHolm(pValues: readonly number[]): readonly number[] {
  const order = rankPValues(pValues);
  const adjusted = new Array<number>(pValues.length).fill(0);
  let most = 0;
  order.forEach((index, rank) => {
    most = Math.max(most, Math.min(1, pValues[index]! * (pValues.length - rank)));
    adjusted[index] = most;
  });
  return adjusted;
}

/**
 * Adjusts the p-values of several tests, so that the expected share of false findings stays below the chosen limit.
 *
 * Source: Y. Benjamini and Y. Hochberg, "Controlling the False Discovery Rate", Journal of the Royal Statistical Society B 57,
 * 1995, for tests that are independent or positively dependent.
 *
 * @returns The adjusted p-values in the order of the given ones.
 */
export function adjustBenjaminiHochberg(pValues: readonly number[]): readonly number[] {
  const order = rankPValues(pValues);
  const adjusted = new Array<number>(pValues.length).fill(0);
  let least = 1;
  for (let rank = order.length; rank >= 1; rank--) {
    const index = order[rank - 1]!;
    least = Math.min(least, pValues[index]! * (pValues.length / rank));
    adjusted[index] = least;
  }
  return adjusted;
}

/** Returns the indices of the p-values, that of the smallest first. */
function rankPValues(pValues: readonly number[]): readonly number[] {
  for (const pValue of pValues) {
    if (!(pValue >= 0 && pValue <= 1)) {
      throw new RangeError(`A p-value must be between 0 and 1; one is ${pValue}.`);
    }
  }
  return pValues.map((_, index) => index).sort((a, b) => pValues[a]! - pValues[b]!);
}
