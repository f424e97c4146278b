import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type InRunItem, selectPruned } from "../../src/conversation/pruning/prune.ts";

const answer = (
  position: number,
  tokens: number,
  callIds: readonly string[] = [],
  inProgress = false,
): InRunItem => ({
  position,
  tokens,
  kind: "answer",
  callIds,
  isInProgress: inProgress,
});
const result = (position: number, tokens: number, callId: string, inProgress = false): InRunItem => ({
  position,
  tokens,
  kind: "result",
  callIds: [callId],
  isInProgress: inProgress,
});

describe("pruning", () => {
  const items = [
    answer(1, 10, ["a", "b"]),
    result(2, 100, "a"),
    result(3, 200, "b"),
    answer(5, 40),
    answer(7, 10, ["a"]),
    result(8, 50, "a"),
    answer(9, 20, ["p"], true),
  ];

  test("removes the oldest messages first, until the target number of tokens is reached [PRUN-02.1]", () => {
    expect(selectPruned(items, 310)).toEqual({ positions: [1, 2, 3], tokens: 310 });
    expect(selectPruned(items, 311)).toEqual({ positions: [1, 2, 3, 5], tokens: 350 });
    expect(selectPruned(items, 0)).toEqual({ positions: [], tokens: 0 });
  });

  test("removes an answer with all its results, and reports exactly what it removed [PRUN-11.1, PHI-13i.2-3]", () => {
    expect(selectPruned(items, 1)).toEqual({ positions: [1, 2, 3], tokens: 310 });
  });

  test("keeps the call in progress, however large the target [PRUN-11.2, PHI-13i.2]", () => {
    expect(selectPruned(items, 100_000)).toEqual({ positions: [1, 2, 3, 5, 7, 8], tokens: 410 });
    const batch = [answer(1, 10, ["a", "p"]), result(2, 500, "a"), result(3, 1, "p", true)];
    expect(selectPruned(batch, 100)).toEqual({ positions: [], tokens: 0 });
  });

  test("keeps an answer that waits for a result, and removes a newer one instead [PRUN-11.1]", () => {
    const waiting = [answer(1, 10, ["a", "b"]), result(2, 500, "a"), answer(4, 5)];
    expect(selectPruned(waiting, 100)).toEqual({ positions: [4], tokens: 5 });
  });

  test("assigns a result to the newest answer with its call id, as ids repeat [PRUN-11.1, GAP-08.2]", () => {
    const again = [answer(1, 1, ["a"]), result(2, 1, "a"), answer(3, 1, ["a"]), result(4, 1, "a")];
    expect(selectPruned(again, 2).positions).toEqual([1, 2]);
    expect(selectPruned(again.slice(2), 1).positions).toEqual([3, 4]);
  });

  test("can remove a result without a call on its own", () => {
    expect(selectPruned([result(1, 5, "x"), answer(2, 7)], 5)).toEqual({ positions: [1], tokens: 5 });
  });
});

describe("pruning of any run with any target", () => {
  const turn = fc.record({
    calls: fc.array(
      fc.record({ id: fc.constantFrom("a", "b", "c"), tokens: fc.nat(500), running: fc.nat(12) }),
      {
        maxLength: 4,
      },
    ),
    tokens: fc.nat(500),
    steered: fc.boolean(),
  });
  /** Turns with calls, a few of which still run and have no result yet. */
  const runs = fc.array(turn, { maxLength: 12 }).map((turns) => {
    const items: InRunItem[] = [];
    const groups: number[][] = [];
    let position = 0;
    for (const { calls, tokens, steered } of turns) {
      if (steered) position++;
      const unique = calls.filter((call, index) => calls.findIndex(({ id }) => id === call.id) === index);
      const running = unique.some((call) => call.running === 0);
      const group = [position];
      items.push(
        answer(
          position++,
          tokens,
          unique.map(({ id }) => id),
          running,
        ),
      );
      for (const call of unique) {
        if (call.running === 0) continue;
        group.push(position);
        items.push(result(position++, call.tokens, call.id));
      }
      groups.push(running ? [] : group);
    }
    return { items, groups: groups.filter((group) => group.length > 0) };
  });

  test("removes whole answers from the oldest on, no more than needed, and reports exactly those [PRUN-02.1, PRUN-11.1, PHI-13i.1, PHI-13i.3, X-18.2]", () => {
    fc.assert(
      fc.property(runs, fc.integer({ min: -10, max: 6000 }), ({ items, groups }, target) => {
        const pruned = selectPruned(items, target);
        const tokensAt = (positions: readonly number[]) =>
          items.reduce((sum, item) => sum + (positions.includes(item.position) ? item.tokens : 0), 0);
        expect(pruned.tokens).toBe(tokensAt(pruned.positions));
        const taken = groups.findIndex((_, index) => tokensAt(groups.slice(0, index).flat()) >= target);
        const expected = taken === -1 ? groups : groups.slice(0, taken);
        expect(pruned.positions).toEqual(expected.flat());
      }),
      { numRuns: 10_000 },
    );
  });
});
