// What leaves the view when a model asks to be rid of so many tokens: PRUN-02, PRUN-11, PHI-13i.
//
// Invariants
//   P1. An answer leaves with all results of its calls, or stays with all of them.
//   P2. An answer that waits for a result stays: a result would come back to nothing.
//   P3. What is reported is what was removed.

/** An entry that the machine or a model made. Words of people are never among them (PRUN-01). */
export type InRunItem = {
  readonly position: number;
  readonly tokens: number;
  readonly kind: "answer" | "result";
  /** The calls that an answer makes, or the one that a result answers. */
  readonly callIds: readonly string[];
  /** The call runs now: among others, the one that asks for the pruning. */
  readonly inProgress: boolean;
};

export type PruneSelection = {
  /** Of the entries that leave, ascending; a memo stands at the first. */
  readonly positions: readonly number[];
  /** What they had, together: less than was asked when there was no more to take. */
  readonly tokens: number;
};

/**
 * Chooses what leaves: oldest first, an answer and its results as one, until the target is met.
 *
 * @param items - In order of position.
 * @param targetTokens - What the model wants back. The last answer that leaves may take it above.
 */
export function selectPruned(items: readonly InRunItem[], targetTokens: number): PruneSelection {
  const positions: number[] = [];
  let tokens = 0;
  for (const group of groupItems(items)) {
    if (tokens >= targetTokens) break;
    if (!isFinished(group)) continue;
    positions.push(...group.map(({ position }) => position));
    tokens += group.reduce((sum, item) => sum + item.tokens, 0);
  }
  return { positions: positions.toSorted((left, right) => left - right), tokens };
}

/** An answer with the results that belong to it, by the newest answer that made the call: ids repeat (GAP-08). */
function groupItems(items: readonly InRunItem[]): readonly (readonly InRunItem[])[] {
  const groups: InRunItem[][] = [];
  const groupOf = new Map<string, InRunItem[]>();
  for (const item of items) {
    const callId = item.callIds[0];
    const asked = item.kind === "result" && callId !== undefined ? groupOf.get(callId) : undefined;
    if (asked !== undefined) {
      asked.push(item);
      continue;
    }
    const group = [item];
    groups.push(group);
    if (item.kind === "answer") for (const id of item.callIds) groupOf.set(id, group);
  }
  return groups;
}

function isFinished(group: readonly InRunItem[]): boolean {
  const calls = group.flatMap((item) => (item.kind === "answer" ? item.callIds : []));
  const results = group.filter(({ kind }) => kind === "result").length;
  return results >= calls.length && group.every(({ inProgress }) => !inProgress);
}
