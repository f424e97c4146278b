import type { MemoRef, Span } from "../../core/view/view.ts";
import type { ViewRanges } from "../../core/view/view-ranges.ts";

/** Lists the memos of a view, each with its position. */
export function listMemos({
  ranges,
}: ViewRanges): readonly { readonly at: number; readonly memo: MemoRef }[] {
  return ranges.flatMap(({ from, memos = [] }) => memos.map((memo) => ({ at: from, memo })));
}

/** Retains the memos, each before the first span after its old position. */
export function retainMemos(spans: readonly Span[], view: ViewRanges): readonly Span[] {
  return listMemos(view).reduce((all, { at, memo }) => {
    const nextIndex = all.findIndex(({ to }) => to > at);
    const index = nextIndex < 0 ? all.length - 1 : nextIndex;
    return all.map((span, one) =>
      one === index
        ? { ...span, tokens: span.tokens + memo.tokens, memos: [...(span.memos ?? []), memo] }
        : span,
    );
  }, spans);
}
