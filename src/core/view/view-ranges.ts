import type { Faded } from "./tag.ts";
import type { Shown, View } from "./view.ts";

// What of a branch must be read to show a view.

export type Range = Shown & { readonly from: number; readonly to: number };

/** A view as it travels to an activity: the ranges to be read, neighbours joined. */
export type ViewRanges = {
  readonly branch: string;
  readonly ranges: readonly Range[];
  readonly faded?: Faded;
};

export function rangesOf(view: View): ViewRanges {
  const ranges: Range[] = [];
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
function isSame(one: Shown, other: Shown): boolean {
  if (one.instead !== undefined || other.instead !== undefined || other.memos !== undefined) return false;
  if (one.chars !== other.chars || one.wordChars !== other.wordChars) return false;
  return one.cut === other.cut && one.words === other.words;
}

/** Texts of other branches that a view shows. */
export function textsElsewhere({ ranges }: ViewRanges): readonly { branch: string; position: number }[] {
  return ranges
    .flatMap(({ instead, memos }) => [...(instead === undefined ? [] : [instead]), ...(memos ?? [])])
    .flatMap(({ branch, position }) => (branch === undefined ? [] : [{ branch, position }]));
}

/** What the first position behind everything that a view needs of its own branch is. */
export function viewEnd({ ranges }: ViewRanges): number {
  return ranges.reduce((end, { to, instead, memos = [] }) => {
    const texts = instead === undefined ? memos : [instead, ...memos];
    const ends = texts.map(({ branch, position }) => (branch === undefined ? position + 1 : 0));
    return Math.max(end, to, ...ends);
  }, 0);
}
