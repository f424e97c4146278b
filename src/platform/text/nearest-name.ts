/** Finds the name that was probably meant: at most a third of its letters differ. */
export function findNearestName(name: string, candidates: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = computeEditDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least && distance <= Math.max(1, Math.floor(candidate.length / 3))) {
      nearest = candidate;
      least = distance;
    }
  }
  return nearest;
}

/** Counts the letters that must be added, dropped, replaced, or swapped with their neighbour. */
export function computeEditDistance(left: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= left.length; row += 1) {
    const cells = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cell = Math.min(
        rows[row - 1]![column]! + 1,
        cells[column - 1]! + 1,
        rows[row - 1]![column - 1]! + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cell = Math.min(cell, rows[row - 2]![column - 2]! + 1);
      cells.push(cell);
    }
    rows.push(cells);
  }
  return rows[left.length]![right.length]!;
}
