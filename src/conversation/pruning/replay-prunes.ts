import { buildFadingTag, type LiveTag } from "../../core/view/tag.ts";
import type { MemoRef } from "../../core/view/view.ts";
import type { PositionRange } from "../../core/view/view-request.ts";
import type { EventBody } from "../../schema/loop-event.ts";

// A view's pruned state, rebuilt from the events that a loop has recorded (PRUN-07).

export type PrunedState = {
  /** In order, without overlaps: only user messages of these ranges are left. */
  readonly pruned: readonly PositionRange[];
  /** Each with its position, in order. */
  readonly memos: readonly (MemoRef & { readonly at: number })[];
  /** Lessons and findings on the branch, oldest first; only the run knows their age. */
  readonly tags: readonly Omit<LiveTag, "createdAtTurn">[];
};

export const NO_PRUNES: PrunedState = { pruned: [], memos: [], tags: [] };

/**
 * Folds the events of loops, oldest first.
 *
 * @param branches - The branch that each applied RevertApplied has left, oldest first. It holds the texts of memos that
 *   were made after the target of that revert.
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

/** Returns what is left of the state on a branch that leaves the previous one at this position. */
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

/** Sorts ranges and joins neighbours. */
function mergeRanges(ranges: readonly PositionRange[]): readonly PositionRange[] {
  const all: { from: number; to: number }[] = [];
  for (const { from, to } of [...ranges].sort((one, other) => one.from - other.from)) {
    const last = all.at(-1);
    if (last !== undefined && last.to >= from) last.to = Math.max(last.to, to);
    else all.push({ from, to });
  }
  return all;
}
