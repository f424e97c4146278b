import type { Span, ViewSnapshot } from "../../core/view/view.ts";
import type { Entry, EventBody } from "../../schema/record.ts";
import { type BranchNode, listAncestry } from "./branch-ancestry.ts";
import { estimateSpanTokens } from "./choose-prune.ts";
import { NO_PRUNES, type PrunedState, replayPruned, truncateState } from "./replay-prunes.ts";

// What models have left of what stands before a loop, by the events that earlier loops of the session have recorded
// (PRUN-07): for loops that were never closed, and so have left no view.

export type LoopEvents = {
  /** Each was left for the next by going back; the last is the one that the loop goes on on. */
  readonly branches: readonly string[];
  readonly events: readonly EventBody[];
};

/**
 * @param loops - Those before the one that begins, in order of start.
 * @param entries - Of the place's branch, before the place.
 * @returns Nothing where none has pruned.
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
    // What was pruned on another branch was pruned for that one.
    if (part === undefined) continue;
    const on = loop.branches[part] as string;
    const end = Math.min(line.get(on) as number, from);
    const events = selectEventsBefore(loop, part, end);
    state = truncateState(replayPruned(events, loop.branches.slice(0, part), state), end, on);
  }
  state = truncateState(state, from, undefined);
  const { pruned, tags } = state;
  if (pruned.length === 0 && tags.length === 0) return undefined;
  const aged = tags.map((tag) => ({ ...tag, madeAt: 0 }));
  return { spans: buildSpans(state, from, entries), ...(aged.length === 0 ? {} : { tags: aged }) };
}

/**
 * Index of the loop's branch that holds the newest of its entries before the place: the loop may have left that branch
 * later by going back. Nothing where none of its branches leads to the place.
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
 * The loop's events until it wrote at or after `end` on its branch with this index. A prune is recorded after the
 * events of all results of its answer, so one that was asked for later is not among them.
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
    const span: Span = { from: edge, to, turns: 1, tokens: 0, ...(isPruned ? { words: isPruned } : {}) };
    const ofMemos = own.reduce((sum, { tokens }) => sum + tokens, 0);
    return {
      ...span,
      tokens: estimateSpanTokens(span, entries) + ofMemos,
      ...(own.length === 0 ? {} : { memos: own }),
    };
  });
}
