// What leaves the view when a model requests to free a number of tokens: PRUN-02, PRUN-11, PHI-13i.
//
// Invariants
//   P1. An answer leaves with all results of its calls, or stays with all of them.
//   P2. An answer that waits for a result stays: otherwise the result would have no call.
//   P3. The reported numbers are what was removed.

/** An entry that the machine or a model made. User messages are never among them (PRUN-01). */
export type InRunItem = {
  readonly position: number;
  readonly tokens: number;
  readonly kind: "answer" | "result";
  /** The calls that an answer makes, or the one that a result answers. */
  readonly callIds: readonly string[];
  /** The call is running, like the call that requests the pruning. */
  readonly isInProgress: boolean;
};

export type PruneSelection = {
  /** The positions of the entries that leave, ascending; a memo is at the first. */
  readonly positions: readonly number[];
  /** Their tokens together: less than requested when there is no more to take. */
  readonly tokens: number;
};

/**
 * Chooses what leaves: oldest first, an answer and its results together, until the target is met.
 *
 * @param items - In order of position.
 * @param targetTokens - What the model wants to free. The last answer that leaves may exceed it.
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

/** Groups an answer with its results, by the newest answer that made the call: ids repeat (GAP-08). */
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
  return results >= calls.length && group.every(({ isInProgress }) => !isInProgress);
}
