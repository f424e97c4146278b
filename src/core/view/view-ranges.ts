import type { FadedBefore } from "./tag.ts";
import type { SpanFormat, View } from "./view.ts";

// The entries of a branch that must be read to build a view.

export type ViewRange = SpanFormat & { readonly from: number; readonly to: number };

/** A view in the form in which it travels to an activity: the ranges to read, with adjacent ranges joined. */
export type ViewRanges = {
  readonly branch: string;
  readonly ranges: readonly ViewRange[];
  readonly faded?: FadedBefore;
};

export function toViewRanges(view: View): ViewRanges {
  const ranges: ViewRange[] = [];
  for (const { turns: _, tokens: __, ...range } of view.spans) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to === range.from && isSame(last, range)) {
      ranges[ranges.length - 1] = { ...last, to: range.to };
    } else ranges.push(range);
  }
  const { branch, faded } = view;
  return { branch, ranges, ...(faded === undefined ? {} : { faded }) };
}

/** Reports whether two formats can be joined. Two texts that stand for entries never join, nor does a range with memos. */
function isSame(one: SpanFormat, other: SpanFormat): boolean {
  if (one.instead !== undefined || other.instead !== undefined || other.memos !== undefined) return false;
  if (one.chars !== other.chars || one.wordChars !== other.wordChars) return false;
  return one.cut === other.cut && one.words === other.words;
}

/** Lists the texts of other branches that a view includes. */
export function listForeignTexts({ ranges }: ViewRanges): readonly { branch: string; position: number }[] {
  return ranges
    .flatMap(({ instead, memos }) => [...(instead === undefined ? [] : [instead]), ...(memos ?? [])])
    .flatMap(({ branch, position }) => (branch === undefined ? [] : [{ branch, position }]));
}

/** Returns the first position after all entries of its own branch that a view needs. */
export function findViewEnd({ ranges }: ViewRanges): number {
  return ranges.reduce((end, { to, instead, memos = [] }) => {
    const texts = instead === undefined ? memos : [instead, ...memos];
    const ends = texts.map(({ branch, position }) => (branch === undefined ? position + 1 : 0));
    return Math.max(end, to, ...ends);
  }, 0);
}
