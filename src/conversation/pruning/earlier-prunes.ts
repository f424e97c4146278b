import type { Span, ViewSnapshot } from "../../core/view/view.ts";
import type { EventBody } from "../../schema/loop-event.ts";
import type { Entry } from "../../schema/record.ts";
import { type BranchNode, listAncestry } from "./branch-ancestry.ts";
import { estimateSpanTokens } from "./choose-prune.ts";
import { NO_PRUNES, type PrunedState, replayPruned, truncateState } from "./replay-prunes.ts";

// What models have left of the entries before a loop, from the recorded events of earlier loops of the session
// (PRUN-07). For loops that were never closed and therefore have left no view.

export type LoopEvents = {
  /** Each was left for the next one by going back; the loop continues on the last one. */
  readonly branches: readonly string[];
  readonly events: readonly EventBody[];
};

/**
 * @param loops - The loops before the one that begins, in order of start.
 * @param entries - The entries of the position's branch before the position.
 * @returns Nothing when none has pruned.
 */
export function replayEarlierPrunes(
  start: { readonly branch: string; readonly from: number },
  loops: readonly LoopEvents[],
  branches: readonly BranchNode[],
  entries: readonly Entry[],
): ViewSnapshot | undefined {
  const { branch, from } = start;
  const line = new Map(listAncestry(branches, branch).map(({ id, until }) => [id, until]));
  let state = NO_PRUNES;
  for (const loop of loops) {
    const part = findBranchIndex(start, loop, line);
    // A prune on another branch applies to that branch only.
    if (part === undefined) continue;
    const on = loop.branches[part] as string;
    const end = Math.min(line.get(on) as number, from);
    const events = selectEventsBefore(loop, part, end);
    state = truncateState(replayPruned(events, loop.branches.slice(0, part), state), end, on);
  }
  state = truncateState(state, from, undefined);
  const { pruned, tags } = state;
  if (pruned.length === 0 && tags.length === 0) return undefined;
  const aged = tags.map((tag) => ({ ...tag, createdAtTurn: 0 }));
  return { spans: buildSpans(state, from, entries), ...(aged.length === 0 ? {} : { tags: aged }) };
}

/**
 * Finds the index of the loop's branch that holds the newest of its entries before the position: the loop may have left
 * that branch later by going back. Nothing when none of its branches leads to the position.
 */
function findBranchIndex(
  { from }: { readonly from: number },
  { branches }: LoopEvents,
  line: ReadonlyMap<string, number>,
): number | undefined {
  const part = branches.findLastIndex((id, index) => {
    const before = index === 0 ? undefined : line.get(branches[index - 1] as string);
    return line.has(id) && (before === undefined || before < from);
  });
  return part === -1 ? undefined : part;
}

/**
 * Returns the loop's events until it wrote at or after `end` on its branch with this index. A prune is recorded after the
 * events of all results of its answer, so a later prune is not among them.
 */
function selectEventsBefore({ events }: LoopEvents, part: number, end: number): readonly EventBody[] {
  let at = 0;
  const last = events.findIndex((body) => {
    if (body.type === "RevertApplied" && body.applied) at += 1;
    return at > part || (at === part && body.type === "MessageStart" && body.position >= end);
  });
  return last === -1 ? events : events.slice(0, last);
}

function buildSpans(
  { pruned, memos }: PrunedState,
  from: number,
  entries: readonly Entry[],
): readonly Span[] {
  const borders = [0, from, ...pruned.flatMap((one) => [one.from, one.to]), ...memos.map(({ at }) => at)];
  const edges = [...new Set(borders)].sort((one, other) => one - other);
  return edges.slice(0, -1).map((edge, index): Span => {
    const isPruned = pruned.some((one) => edge >= one.from && edge < one.to);
    const own = memos.filter(({ at }) => at === edge).map(({ at: _, ...memo }) => memo);
    const to = edges[index + 1] as number;
    const span: Span = { from: edge, to, turns: 1, tokens: 0, ...(isPruned ? { isPruned } : {}) };
    const ofMemos = own.reduce((sum, { tokens }) => sum + tokens, 0);
    return {
      ...span,
      tokens: estimateSpanTokens(span, entries) + ofMemos,
      ...(own.length === 0 ? {} : { memos: own }),
    };
  });
}
