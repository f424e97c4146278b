import type { PrunedState } from "../../../src/conversation/pruning/replay-prunes.ts";
import type { Span } from "../../../src/core/view/view.ts";
import type { PositionRange } from "../../../src/core/view/view-request.ts";

/** Returns the pruned state of a view, which agrees with the events of its loops while nothing was compacted. */
export function toPrunedState(spans: readonly Span[]): Pick<PrunedState, "pruned" | "memos"> {
  const pruned: PositionRange[] = [];
  for (const { from, to, isPruned } of spans) {
    if (isPruned !== true) continue;
    const last = pruned.at(-1);
    if (last?.to === from) pruned.splice(-1, 1, { from: last.from, to });
    else pruned.push({ from, to });
  }
  return {
    pruned,
    memos: spans.flatMap(({ from, memos = [] }) => memos.map((memo) => ({ ...memo, at: from }))),
  };
}
