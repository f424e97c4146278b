import type { Entry, EventBody } from "../schema/record.ts";
import { type BranchAt, lineOf } from "./branch-line.ts";
import { tokensOf } from "./choose-prune.ts";
import { NOTHING_PRUNED, type PrunedState, replayPruned, upTo } from "./replay-view.ts";
import type { LeftView, Span } from "./view.ts";

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
export function prunedBefore(
  place: { readonly branch: string; readonly from: number },
  loops: readonly LoopEvents[],
  branches: readonly BranchAt[],
  entries: readonly Entry[],
): LeftView | undefined {
  const { branch, from } = place;
  const line = new Map(lineOf(branches, branch).map(({ id, until }) => [id, until]));
  let state = NOTHING_PRUNED;
  for (const { branches: parts, events } of loops) {
    const on = parts.at(-1) ?? "";
    const end = line.get(on);
    // What was pruned on another branch was pruned for that one.
    if (end === undefined) continue;
    state = upTo(replayPruned(events, parts.slice(0, -1), state), end, on);
  }
  state = upTo(state, from, undefined);
  const { pruned, tags } = state;
  if (pruned.length === 0 && tags.length === 0) return undefined;
  const aged = tags.map((tag) => ({ ...tag, madeAt: 0 }));
  return { spans: spansOf(state, from, entries), ...(aged.length === 0 ? {} : { tags: aged }) };
}

function spansOf({ pruned, memos }: PrunedState, from: number, entries: readonly Entry[]): readonly Span[] {
  const borders = [0, from, ...pruned.flatMap((one) => [one.from, one.to]), ...memos.map(({ at }) => at)];
  const edges = [...new Set(borders)].sort((one, other) => one - other);
  return edges.slice(0, -1).map((edge, index): Span => {
    const words = pruned.some((one) => edge >= one.from && edge < one.to);
    const own = memos.filter(({ at }) => at === edge).map(({ at: _, ...memo }) => memo);
    const to = edges[index + 1] as number;
    const span: Span = { from: edge, to, turns: 1, tokens: 0, ...(words ? { words } : {}) };
    const ofMemos = own.reduce((sum, { tokens }) => sum + tokens, 0);
    return {
      ...span,
      tokens: tokensOf(span, entries) + ofMemos,
      ...(own.length === 0 ? {} : { memos: own }),
    };
  });
}
