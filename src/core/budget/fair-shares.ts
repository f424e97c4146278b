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
  // No amount is larger.
  const capOf = (index: number) => caps[index] ?? Number.MAX_SAFE_INTEGER;
  const fromLowest = [...caps.keys()].sort((a, b) => capOf(a) - capOf(b));
  const shares: number[] = [];
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
