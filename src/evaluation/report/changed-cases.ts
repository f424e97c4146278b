/** A case whose score is another one in the second run. */
export type ChangedCase = {
  /** The id of the case. */
  readonly caseId: string;
  /** The name of the configuration in the first run. */
  readonly configuration: string;
  /** The name of the score. */
  readonly score: string;
  /** Means over repetitions. */
  readonly before: number;
  /** The mean in the second run. */
  readonly after: number;
};

/** The most changed cases that a comparison lists. */
export const MAX_CHANGED_CASES = 1000;

/** Keeps the largest changes of those that are added. Changes of the same size stay in the order in which they were added. */
export class LargestChanges {
  #kept: ChangedCase[] = [];
  #count = 0;

  add(change: ChangedCase): void {
    this.#count++;
    this.#kept.push(change);
    if (this.#kept.length >= 2 * MAX_CHANGED_CASES) this.#prune();
  }

  get count(): number {
    return this.#count;
  }

  list(): readonly ChangedCase[] {
    this.#prune();
    return this.#kept;
  }

  #prune(): void {
    // The sort is stable.
    this.#kept = this.#kept.sort((a, b) => measureChange(b) - measureChange(a)).slice(0, MAX_CHANGED_CASES);
  }
}

function measureChange({ before, after }: ChangedCase): number {
  return Math.abs(after - before);
}
