import type { FadedBefore } from "./tag.ts";
import type { SpanFormat, View } from "./view.ts";

// What of a branch must be read to show a view.

export type ViewRange = SpanFormat & { readonly from: number; readonly to: number };

/** A view as it travels to an activity: the ranges to be read, neighbours joined. */
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

/** Two texts that stand for something are never one; a memo stands where it stands. */
function isSame(one: SpanFormat, other: SpanFormat): boolean {
  if (one.instead !== undefined || other.instead !== undefined || other.memos !== undefined) return false;
  if (one.chars !== other.chars || one.wordChars !== other.wordChars) return false;
  return one.cut === other.cut && one.words === other.words;
}

/** Texts of other branches that a view shows. */
export function listForeignTexts({ ranges }: ViewRanges): readonly { branch: string; position: number }[] {
  return ranges
    .flatMap(({ instead, memos }) => [...(instead === undefined ? [] : [instead]), ...(memos ?? [])])
    .flatMap(({ branch, position }) => (branch === undefined ? [] : [{ branch, position }]));
}

/** What the first position behind everything that a view needs of its own branch is. */
export function findViewEnd({ ranges }: ViewRanges): number {
  return ranges.reduce((end, { to, instead, memos = [] }) => {
    const texts = instead === undefined ? memos : [instead, ...memos];
    const ends = texts.map(({ branch, position }) => (branch === undefined ? position + 1 : 0));
    return Math.max(end, to, ...ends);
  }, 0);
}
