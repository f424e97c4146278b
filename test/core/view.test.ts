import { describe, expect, test } from "vitest";
import {
  countEntries,
  EMPTY_VIEW,
  extendView,
  isPlainView,
  joinPruned,
  replaceSpans,
  type Span,
  toViewSnapshot,
  type View,
} from "../../src/core/view/view.ts";
import { findViewEnd, listForeignTexts, toViewRanges } from "../../src/core/view/view-ranges.ts";

// The view as data: which spans are joined and which stay separate.

const span = (from: number, to: number, rest: Partial<Span> = {}): Span => ({
  from,
  to,
  turns: 1,
  tokens: 10,
  ...rest,
});
const view = (spans: readonly Span[], rest: Partial<View> = {}): View => ({ branch: "main", spans, ...rest });
const memo = (position: number, branch?: string) => ({
  position,
  call: 0,
  tokens: 5,
  ...(branch === undefined ? {} : { branch }),
});
const tag = { category: "failure" as const, position: 1, createdAtTurn: 7 };
const borders = (spans: readonly { readonly from: number; readonly to: number }[]) =>
  spans.map(({ from, to }) => [from, to]);

/** Spans of one turn each, from a position on. */
const turns = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => span(from + index, from + index + 1));

describe("a plain view", () => {
  test("shows all entries unchanged, from the first one on", () => {
    expect(isPlainView(EMPTY_VIEW)).toBe(true);
    expect(isPlainView(view([span(0, 2), span(2, 5)], { prunableFrom: 0, tags: [] }))).toBe(true);
  });

  test.each<[string, View]>([
    ["begins after the first entry", view([span(1, 2)])],
    ["has a gap", view([span(0, 2), span(3, 5)])],
    ["has a replacement text", view([span(0, 2, { replacement: { position: 9, section: 0 } })])],
    ["has truncated outputs", view([span(0, 2), span(2, 4, { maxLines: 50 })])],
    ["was pruned", view([span(0, 2), span(2, 4, { isPruned: true })])],
    ["has the result of a compaction", view([span(0, 2)], { prunableFrom: 2 })],
    ["has a tag", view([span(0, 2)], { tags: [tag] })],
    ["has a faded tag", view([span(0, 2)], { fadedBefore: { failure: 3 } })],
  ])("is not plain when it %s", (_, changed) => {
    expect(isPlainView(changed)).toBe(false);
  });
});

describe("the view that a loop leaves", () => {
  test("has no branch, and its tags start at turn 0", () => {
    const faded = { tangent: 3 };
    const left = toViewSnapshot(
      view([span(0, 2)], { prunableFrom: 1, tags: [tag, { ...tag, position: 4 }], fadedBefore: faded }),
    );
    expect(left).toEqual({
      spans: [span(0, 2)],
      prunableFrom: 1,
      tags: [
        { category: "failure", position: 1, createdAtTurn: 0 },
        { category: "failure", position: 4, createdAtTurn: 0 },
      ],
      fadedBefore: faded,
    });
  });

  test("has no `tags` if there are none", () => {
    expect(toViewSnapshot(view([span(0, 2)], { tags: [] }))).toStrictEqual({ spans: [span(0, 2)] });
    expect(toViewSnapshot(view([span(0, 2)]))).toStrictEqual({ spans: [span(0, 2)] });
  });
});

describe("an entry that is added", () => {
  const added = (last: Span, newTurn = false) =>
    borders(extendView(view([last]), { position: 5, tokens: 3, newTurn }).spans);

  test("joins the newest turn if it directly follows it", () => {
    expect(
      extendView(view([span(0, 3), span(3, 5)]), { position: 5, tokens: 3, newTurn: false }).spans,
    ).toEqual([span(0, 3), span(3, 6, { tokens: 13 })]);
  });

  test("starts a new span after a gap, in a new turn, and after a span that is not shown in full", () => {
    expect(added(span(0, 5))).toEqual([[0, 6]]);
    expect(added(span(0, 5), true)).toHaveLength(2);
    expect(added(span(0, 4))).toHaveLength(2);
    expect(added(span(0, 5, { maxLines: 50 }))).toHaveLength(2);
    expect(added(span(0, 5, { isPruned: true }))).toHaveLength(2);
    expect(added(span(0, 5, { replacement: { position: 9, section: 0 } }))).toHaveLength(2);
    expect(extendView(EMPTY_VIEW, { position: 0, tokens: 3, newTurn: false }).spans).toEqual([
      span(0, 1, { tokens: 3 }),
    ]);
  });
});

describe("a view with too many spans", () => {
  const crowded = (first: readonly Span[]) => {
    const behind = first.at(-1)?.to ?? 0;
    const all = [...first, ...turns(behind, 48 - first.length)];
    return extendView(view(all), { position: behind + 48 - first.length, tokens: 1, newTurn: true }).spans;
  };

  test("joins its two oldest spans, and no more than necessary", () => {
    expect(crowded([])).toHaveLength(48);
    expect(crowded([]).slice(0, 2)).toEqual([span(0, 2, { turns: 2, tokens: 20 }), span(2, 3)]);
    const full = view(turns(0, 47));
    expect(extendView(full, { position: 47, tokens: 1, newTurn: true }).spans).toHaveLength(48);
    expect(extendView(full, { position: 47, tokens: 1, newTurn: true }).spans[0]).toEqual(span(0, 1));
  });

  test("does not join compacted or pruned spans, nor across a memo", () => {
    const instead = { position: 90, section: 0 };
    expect(
      borders(crowded([span(0, 4, { replacement: instead }), span(4, 6, { maxLines: 50 })])).slice(0, 3),
    ).toEqual([
      [0, 4],
      [4, 6],
      [6, 8],
    ]);
    expect(borders(crowded([span(0, 2), span(2, 4, { memos: [memo(9)] })])).slice(0, 2)).toEqual([
      [0, 2],
      [2, 5],
    ]);
    expect(borders(crowded([span(0, 2, { isPruned: true }), span(2, 4)])).slice(0, 2)).toEqual([
      [0, 2],
      [2, 5],
    ]);
  });

  test("keeps all of them if none can be joined", () => {
    const apart = Array.from({ length: 48 }, (_, index) => span(2 * index, 2 * index + 1));
    expect(extendView(view(apart), { position: 200, tokens: 1, newTurn: true }).spans).toHaveLength(49);
  });
});

describe("spans that were pruned", () => {
  const pruned = (from: number, to: number, rest: Partial<Span> = {}) =>
    span(from, to, { isPruned: true, ...rest });

  test("are joined if they are adjacent, and spans between them are unchanged", () => {
    expect(joinPruned([pruned(0, 2), pruned(2, 3), span(3, 4), span(4, 5), pruned(5, 6)])).toEqual([
      pruned(0, 3, { turns: 2, tokens: 20 }),
      span(3, 4),
      span(4, 5),
      pruned(5, 6),
    ]);
  });

  test("stay separate at a gap, before a memo, and beside a replacement text", () => {
    expect(joinPruned([pruned(0, 2), pruned(3, 4)])).toHaveLength(2);
    expect(joinPruned([pruned(0, 2), pruned(2, 4, { memos: [memo(9)] })])).toHaveLength(2);
    expect(joinPruned([pruned(0, 2, { memos: [memo(9)] }), pruned(2, 4)])).toEqual([
      pruned(0, 4, { turns: 2, tokens: 20, memos: [memo(9)] }),
    ]);
    const instead = { position: 9, section: 0 };
    expect(joinPruned([pruned(0, 2, { replacement: instead }), pruned(2, 4)])).toHaveLength(2);
    expect(joinPruned([pruned(0, 2), pruned(2, 4, { replacement: instead })])).toHaveLength(2);
  });
});

test("the spans between two positions are replaced", () => {
  const before = view([span(0, 2), span(2, 4), span(4, 6), span(6, 8)], { prunableFrom: 1 });
  expect(replaceSpans(before, 2, 6, [span(2, 6, { isPruned: true })])).toEqual(
    view([span(0, 2), span(2, 6, { isPruned: true }), span(6, 8)], { prunableFrom: 1 }),
  );
});

test("the length of a view is the sum of its spans' lengths", () => {
  expect(countEntries(view([span(0, 2), span(5, 9, { replacement: { position: 9, section: 0 } })]))).toBe(6);
});

describe("the ranges of a view", () => {
  const ranges = (...spans: readonly Span[]) => toViewRanges(view(spans)).ranges;
  const instead = (section: number) => ({ position: 9, section });

  test("join adjacent spans that are shown alike", () => {
    expect(ranges(span(0, 2, { maxLines: 5 }), span(2, 4, { maxLines: 5 }))).toEqual([
      { from: 0, to: 4, maxLines: 5 },
    ]);
    expect(ranges(span(0, 2, { isPruned: true }), span(2, 4, { isPruned: true }))).toHaveLength(1);
    expect(ranges(span(0, 2, { memos: [memo(9)] }), span(2, 4))).toEqual([
      { from: 0, to: 4, memos: [memo(9)] },
    ]);
  });

  test("stay separate if spans are shown differently, replaced by a text, or separated by a memo", () => {
    expect(ranges(span(0, 2, { maxLines: 5 }), span(2, 4, { maxLines: 6 }))).toHaveLength(2);
    expect(ranges(span(0, 2, { isPruned: true }), span(2, 4))).toHaveLength(2);
    expect(ranges(span(0, 2, { replacement: instead(0) }), span(2, 4))).toHaveLength(2);
    expect(ranges(span(0, 2), span(2, 4, { replacement: instead(0) }))).toHaveLength(2);
    expect(ranges(span(0, 2), span(2, 4, { memos: [memo(9)] }))).toHaveLength(2);
  });

  test("include what has faded, if anything has", () => {
    expect(toViewRanges(view([], { fadedBefore: { failure: 3 } }))).toStrictEqual({
      branch: "main",
      ranges: [],
      fadedBefore: { failure: 3 },
    });
    expect(toViewRanges(view([]))).toStrictEqual({ branch: "main", ranges: [] });
  });
});

describe("what a view needs", () => {
  const instead = { position: 12, section: 0 };
  const range = { from: 0, to: 4 };

  test("of its own branch ends after the last entry or text that it shows", () => {
    const end = (...ranges: Parameters<typeof findViewEnd>[0]["ranges"]) =>
      findViewEnd({ branch: "main", ranges });
    expect(end()).toBe(0);
    expect(end({ from: 0, to: 9 }, { from: 9, to: 20 })).toBe(20);
    expect(end({ ...range, replacement: instead })).toBe(13);
    expect(end({ ...range, memos: [memo(30), memo(7)] })).toBe(31);
    expect(end({ ...range, replacement: instead, memos: [memo(7)] })).toBe(13);
    expect(end({ ...range, replacement: { ...instead, branch: "b" }, memos: [memo(30, "b")] })).toBe(4);
  });

  test("of other branches is the texts stored there", () => {
    const ranges = [
      { ...range, replacement: instead, memos: [memo(30), memo(7, "c")] },
      { from: 4, to: 6, replacement: { ...instead, branch: "b" } },
      { from: 6, to: 8 },
    ];
    expect(listForeignTexts({ branch: "main", ranges })).toEqual([
      { branch: "c", position: 7 },
      { branch: "b", position: 12 },
    ]);
  });
});
