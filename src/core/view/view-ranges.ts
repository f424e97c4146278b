import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { FadedBefore } from "./tag.ts";
import type { SpanFormat, View } from "./view.ts";

// The entries of a branch that must be read to build a view.

export type ViewRange = SpanFormat & { readonly from: number; readonly to: number };

/** A view in the form in which it travels to an activity: the ranges to read, with adjacent ranges joined. */
export type ViewRanges = {
  readonly branch: string;
  readonly ranges: readonly ViewRange[];
  readonly fadedBefore?: FadedBefore;
};

export function toViewRanges(view: View): ViewRanges {
  const ranges: ViewRange[] = [];
  for (const { turns: _, tokens: __, ...range } of view.spans) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to === range.from && isSame(last, range)) {
      ranges[ranges.length - 1] = { ...last, to: range.to };
    } else ranges.push(range);
  }
  const { branch, fadedBefore } = view;
  return { branch, ranges, ...omitUndefined({ fadedBefore }) };
}

/** Reports whether two formats can be joined. Two texts that stand for entries never join, nor does a range with memos. */
function isSame(one: SpanFormat, other: SpanFormat): boolean {
  if (one.replacement !== undefined || other.replacement !== undefined || other.memos !== undefined)
    return false;
  if (one.maxChars !== other.maxChars || one.maxUserChars !== other.maxUserChars) return false;
  return one.maxLines === other.maxLines && one.isPruned === other.isPruned;
}

/** Lists the texts of other branches that a view includes. */
export function listForeignTexts({ ranges }: ViewRanges): readonly { branch: string; position: number }[] {
  return ranges
    .flatMap(({ replacement, memos }) => [
      ...(replacement === undefined ? [] : [replacement]),
      ...(memos ?? []),
    ])
    .flatMap(({ branch, position }) => (branch === undefined ? [] : [{ branch, position }]));
}

/** Returns the first position after all entries of its own branch that a view needs. */
export function findViewEnd({ ranges }: ViewRanges): number {
  return ranges.reduce((end, { to, replacement, memos = [] }) => {
    const texts = replacement === undefined ? memos : [replacement, ...memos];
    const ends = texts.map(({ branch, position }) => (branch === undefined ? position + 1 : 0));
    return Math.max(end, to, ...ends);
  }, 0);
}
