/**
 * Divides an amount fairly: no share could grow without a smaller share shrinking, and a party that can use no more than
 * its cap leaves the rest to the others. A remainder goes to the parties with the highest caps.
 *
 * @param caps - The most that each party can use; `null` is without limit.
 * @param kept - Equal shares that are left over for others.
 * @returns In the order of `caps`; together at most the amount.
 */
export function computeFairShares(
  amount: number,
  caps: readonly (number | null)[],
  reservedShares: number,
): readonly number[] {
  const capOf = (index: number) => caps[index] ?? Number.POSITIVE_INFINITY;
  const fromLowest = [...caps.keys()].sort((a, b) => compareCaps(capOf(a), capOf(b)) || a - b);
  const shares = caps.map(() => 0);
  let rest = amount;
  let remainingCount = caps.length + reservedShares;
  for (const index of fromLowest) {
    const share = Math.min(capOf(index), Math.floor(rest / remainingCount));
    shares[index] = share;
    rest -= share;
    remainingCount -= 1;
  }
  return shares;
}

/** Infinity minus itself is not a number. */
function compareCaps(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
