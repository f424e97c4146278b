import { buildFadingTag, type LiveTag } from "../../core/view/tag.ts";
import type { MemoRef, Span } from "../../core/view/view.ts";
import type { PositionRange } from "../../core/view/view-request.ts";
import type { EventBody } from "../../schema/record.ts";

// A view's pruned state, rebuilt from the events that a loop has recorded (PRUN-07).

export type PrunedState = {
  /** In order, without overlaps: of these, words of the user's side are left. */
  readonly pruned: readonly PositionRange[];
  /** Each with the position that it stands at, in order. */
  readonly memos: readonly (MemoRef & { readonly at: number })[];
  /** Lessons and findings on the branch, oldest first; how old they are, only the run knows. */
  readonly tags: readonly Omit<LiveTag, "madeAt">[];
};

export const NO_PRUNES: PrunedState = { pruned: [], memos: [], tags: [] };

/**
 * Folds the events of loops, oldest first.
 *
 * @param branches - The branch that each applied RevertApplied has left, oldest first: there lie the words of memos that
 *   were made behind the place that it went back to.
 */
export function replayPruned(
  events: readonly EventBody[],
  branches: readonly string[],
  before: PrunedState = NO_PRUNES,
): PrunedState {
  let reverts = 0;
  return events.reduce<PrunedState>((state, event) => {
    if (event.type === "PrunApplied") return applyPruneEvent(state, event);
    if (event.type !== "RevertApplied" || event.abandoned === undefined) return state;
    const { from } = event.abandoned;
    const older = truncateState(state, from, branches[reverts++]);
    const tag = buildFadingTag(event.category, from);
    return tag === undefined ? older : { ...older, tags: [...older.tags, tag] };
  }, before);
}

function applyPruneEvent(
  state: PrunedState,
  event: Extract<EventBody, { type: "PrunApplied" }>,
): PrunedState {
  const at = event.pruned[0]?.from ?? 0;
  const memos = event.memo === undefined ? state.memos : [...state.memos, { ...event.memo, at }];
  return {
    ...state,
    pruned: mergeRanges([...state.pruned, ...event.pruned]),
    memos: [...memos].sort((one, other) => one.at - other.at),
  };
}

/** What is left of it on a branch that leaves the one before at this position. */
export function truncateState(
  state: PrunedState,
  position: number,
  abandonedBranch: string | undefined,
): PrunedState {
  return {
    pruned: state.pruned
      .filter(({ from }) => from < position)
      .map(({ from, to }) => ({ from, to: Math.min(to, position) })),
    memos: state.memos
      .filter(({ at }) => at < position)
      .map((memo) =>
        memo.position < position || memo.branch !== undefined || abandonedBranch === undefined
          ? memo
          : { ...memo, branch: abandonedBranch },
      ),
    tags: state.tags.filter((tag) => tag.position < position),
  };
}

/** Sorted, neighbours joined. */
function mergeRanges(ranges: readonly PositionRange[]): readonly PositionRange[] {
  const all: { from: number; to: number }[] = [];
  for (const { from, to } of [...ranges].sort((one, other) => one.from - other.from)) {
    const last = all.at(-1);
    if (last !== undefined && last.to >= from) last.to = Math.max(last.to, to);
    else all.push({ from, to });
  }
  return all;
}

/** The same of a view: what agrees with the events of its loops, as long as nothing was compacted. */
export function toPrunedState(spans: readonly Span[], tags: readonly LiveTag[] = []): PrunedState {
  return {
    pruned: mergeRanges(spans.filter(({ words: isPruned }) => isPruned === true)),
    memos: spans.flatMap(({ from, memos = [] }) => memos.map((memo) => ({ ...memo, at: from }))),
    tags: tags.map(({ category, position }) => ({ category, position })),
  };
}
