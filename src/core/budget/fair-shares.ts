/**
 * Shares an amount out so that nobody could get more without another, who has less, getting less: who can use no more
 * than his cap leaves the rest to the others. What cannot be divided evenly goes to those with the highest caps.
 *
 * @param caps - The most that each can use; `null` is without limit.
 * @param kept - Equal shares that are left over for others.
 * @returns In the order of `caps`; together at most the amount.
 */
export function fairShares(
  amount: number,
  caps: readonly (number | null)[],
  kept: number,
): readonly number[] {
  const capOf = (index: number) => caps[index] ?? Number.POSITIVE_INFINITY;
  const fromLowest = [...caps.keys()].sort((a, b) => compare(capOf(a), capOf(b)) || a - b);
  const shares = caps.map(() => 0);
  let rest = amount;
  let parties = caps.length + kept;
  for (const index of fromLowest) {
    const share = Math.min(capOf(index), Math.floor(rest / parties));
    shares[index] = share;
    rest -= share;
    parties -= 1;
  }
  return shares;
}

/** Infinity less itself is no number. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
