import { describe, expect, test } from "vitest";
import type { BranchNode } from "../../src/conversation/pruning/branch-ancestry.ts";
import { type LoopEvents, replayEarlierPrunes } from "../../src/conversation/pruning/earlier-prunes.ts";
import type { EventBody } from "../../src/schema/loop-event.ts";

const message = (position: number): EventBody => ({ type: "MessageStart", position });
const messages = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => message(from + index));
const prune = (from: number, to: number, memo?: number): EventBody => ({
  type: "PrunApplied",
  pruned: [{ from, to }],
  tokensRemoved: 5,
  messagesRemoved: to - from,
  ...(memo === undefined ? {} : { memo: { position: memo, call: 0, tokens: 3 } }),
});
const goBack = (from: number, to: number): EventBody => ({
  type: "RevertApplied",
  category: "completion",
  abandoned: { from, to },
  applied: true,
});

const fork = (id: string, branch: string, position: number): BranchNode => ({
  id,
  parent: { branch, position },
});
const prunedAt = (
  branch: string,
  from: number,
  loops: readonly LoopEvents[],
  forks: readonly BranchNode[] = [],
) =>
  replayEarlierPrunes({ branch, from }, loops, [{ id: "main" }, ...forks], [])
    ?.spans.filter(({ isPruned }) => isPruned === true)
    .map((span) => [span.from, span.to]);

describe("the view of a loop that begins in the middle of earlier ones", () => {
  // hi, look, result, look, result, prun, result, answer
  const loop: LoopEvents = {
    branches: ["main"],
    events: [...messages(0, 7), prune(1, 3, 5), message(7)],
  };

  test("has the prune and its memo at a position after the pruning answer and its results [PRUN-07.2, PRUN-04.3]", () => {
    const view = replayEarlierPrunes({ branch: "main", from: 7 }, [loop], [{ id: "main" }], []);
    expect(view?.spans).toMatchObject([
      { from: 0, to: 1 },
      { from: 1, to: 3, isPruned: true, memos: [{ position: 5, call: 0, tokens: 3 }] },
      { from: 3, to: 7 },
    ]);
  });

  test.each([3, 4, 5, 6])("has no later prune at an earlier position (%i) [PRUN-07.2]", (from) => {
    expect(prunedAt("main", from, [loop])).toBeUndefined();
    expect(prunedAt("rerun-1", from, [loop], [fork("rerun-1", "main", from)])).toBeUndefined();
  });

  test("has no prune of a later loop, however low the pruned positions [PRUN-07.2]", () => {
    const later: LoopEvents = { branches: ["main"], events: [...messages(8, 11), prune(3, 5), message(11)] };
    expect(prunedAt("main", 8, [loop, later])).toEqual([[1, 3]]);
    expect(prunedAt("rerun-1", 8, [loop, later], [fork("rerun-1", "main", 8)])).toEqual([[1, 3]]);
    expect(prunedAt("main", 11, [loop, later])).toEqual([[1, 5]]);
  });

  test("has only the first of two prunes at a position between them [PRUN-07.2]", () => {
    const two: LoopEvents = {
      branches: ["main"],
      events: [...messages(0, 5), prune(1, 2), ...messages(5, 9), prune(3, 4), message(9)],
    };
    expect(prunedAt("main", 8, [two])).toEqual([[1, 2]]);
    expect(prunedAt("main", 9, [two])).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  describe("after a model's revert", () => {
    // main: 0..8 with a prune after 4 and one after 6; reverted to 5; revert-1: 5.. with a prune after 7
    const reverted: LoopEvents = {
      branches: ["main", "revert-1"],
      events: [
        ...messages(0, 5),
        prune(1, 2),
        ...messages(5, 7),
        prune(2, 3),
        message(7),
        goBack(5, 8),
        ...messages(5, 8),
        prune(3, 4),
        message(8),
      ],
    };
    const branches = [fork("revert-1", "main", 5)];

    test("has, on the abandoned branch, what was pruned before its position [PRUN-07.2]", () => {
      const rerun = (from: number) =>
        prunedAt("rerun-1", from, [reverted], [...branches, fork("rerun-1", "main", from)]);
      expect(rerun(6)).toEqual([[1, 2]]);
      expect(rerun(7)).toEqual([[1, 3]]);
      expect(rerun(4)).toBeUndefined();
    });

    test("has, up to the revert target, what was pruned before its position [PRUN-07.2]", () => {
      const rerun = (from: number) =>
        prunedAt("rerun-1", from, [reverted], [...branches, fork("rerun-1", "revert-1", from)]);
      expect(rerun(4)).toBeUndefined();
      expect(rerun(5)).toEqual([[1, 2]]);
    });

    test("has, after the revert target, what was pruned on both branches before its position [PRUN-07.2]", () => {
      expect(prunedAt("revert-1", 7, [reverted], branches)).toEqual([[1, 3]]);
      expect(prunedAt("revert-1", 8, [reverted], branches)).toEqual([[1, 4]]);
    });

    test("has, on another branch, none of these prunes [PRUN-07.2]", () => {
      const elsewhere: LoopEvents = { ...reverted, branches: ["other", "revert-1"] };
      expect(prunedAt("main", 8, [elsewhere], [fork("revert-1", "other", 5)])).toBeUndefined();
    });
  });
});
