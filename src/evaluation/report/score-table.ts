/** The values of one column, in order of case and repetition, without missing ones. */
export type ScoreSeries = {
  readonly values: readonly number[];
  /** The number of the case of each value. */
  readonly cases: readonly number[];
};

/** Where a value belongs. Numbers count from 0. */
export type CellPosition = { readonly caseNumber: number; readonly repetition: number };

/**
 * Numbers of cells, one column for each kind of number.
 *
 * It holds a few numbers for each cell, whatever the size of its row, and returns them in the same order in whichever order
 * they came: sums of floating-point numbers and resamples depend on the order.
 */
export class ScoreTable {
  readonly #repetitions: number;
  readonly #keys: number[] = [];
  readonly #columns: readonly number[][];
  #order: readonly number[] | undefined;

  constructor(repetitions: number, columns: number) {
    this.#repetitions = repetitions;
    this.#columns = Array.from({ length: columns }, () => []);
  }

  /** @param values - One for each column; NaN if it is missing. */
  add({ caseNumber, repetition }: CellPosition, values: readonly number[]): void {
    this.#keys.push(caseNumber * this.#repetitions + repetition);
    for (const [index, column] of this.#columns.entries()) column.push(values[index] ?? Number.NaN);
    this.#order = undefined;
  }

  readSeries(column: number): ScoreSeries {
    const source = this.#columns[column];
    if (source === undefined) throw new RangeError(`The table has no column ${column}.`);
    this.#order ??= sortKeys(this.#keys);
    const values: number[] = [];
    const cases: number[] = [];
    for (const index of this.#order) {
      const value = source[index]!;
      if (Number.isNaN(value)) continue;
      values.push(value);
      cases.push(Math.floor(this.#keys[index]! / this.#repetitions));
    }
    return { values, cases };
  }
}

/** Returns the indices of the keys, that of the smallest first. */
function sortKeys(keys: readonly number[]): readonly number[] {
  const order = keys.map((_, index) => index);
  // The pages of a run are most often in order: then there is nothing to sort.
  const isSorted = keys.every((key, index) => index === 0 || keys[index - 1]! <= key);
  return isSorted ? order : order.sort((a, b) => keys[a]! - keys[b]!);
}
