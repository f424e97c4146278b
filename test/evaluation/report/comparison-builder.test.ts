import { describe, expect, test } from "vitest";
import {
  ComparisonBuilder,
  MAX_CHANGED_CASES,
  type RunComparison,
} from "../../../src/evaluation/report/index.ts";
import type { SuitePlan } from "../../../src/schema/suite.ts";
import {
  createPlan,
  createRow,
  createScore,
  createScoredRow,
  EDIT_DISTANCE,
  EXACT,
  listDigests,
} from "./report-fixtures.ts";

type Values = Readonly<Record<string, number | null>>;

/** Compares two runs of one configuration. Values are by the id of the case; null for a failed cell. */
function compareValues(plan: SuitePlan, before: Values, after: Values): RunComparison {
  const builder = new ComparisonBuilder(plan, listDigests(plan), plan, listDigests(plan));
  const createRows = (values: Values) =>
    Object.entries(values).map(([id, value], caseNumber) => ({
      id,
      row:
        value === null
          ? createScoredRow(plan, caseNumber, 0, { state: "failed" })
          : createScoredRow(plan, caseNumber, value),
    }));
  for (const { id, row } of createRows(before)) builder.addA(row, id);
  for (const { id, row } of createRows(after)) builder.addB(row, id);
  return builder.build();
}

describe("cases", () => {
  const plan = createPlan([EDIT_DISTANCE]);

  test("match by id, whatever their number", () => {
    const comparison = compareValues(plan, { x: 0.5, y: 0.25, z: 0.1 }, { w: 1, z: 0.1, y: 0.75 });
    expect(comparison.cases).toEqual({ both: 2, onlyA: 1, onlyB: 1 });
    expect(comparison.comparisons).toMatchObject([
      { pairs: 2, unpairedA: 1, unpairedB: 1, difference: 0.25 },
    ]);
    expect(comparison.changed).toEqual([
      { caseId: "y", configuration: "plain", score: "edit-distance", before: 0.25, after: 0.75 },
    ]);
  });

  test("that failed in one run are not compared and not listed as changed", () => {
    const comparison = compareValues(plan, { x: 0.5, y: 1, z: 1 }, { x: 0.5, y: null, z: 1 });
    expect(comparison.cases.both).toBe(3);
    expect(comparison.comparisons).toMatchObject([{ pairs: 2, unpairedA: 1, difference: 0 }]);
    expect(comparison.changed).toEqual([]);
  });

  test("may come in any order", () => {
    const ids = Array.from({ length: 30 }, (_, index) => `case-${(index * 7) % 30}`);
    const pick = (order: readonly string[], scale: number) =>
      Object.fromEntries(order.map((id) => [id, ((Number(id.slice(5)) * scale) % 11) / 11]));
    const forwards = compareValues(plan, pick(ids, 3), pick(ids, 5));
    const backwards = compareValues(plan, pick(ids.toReversed(), 3), pick(ids, 5));
    expect(JSON.stringify(backwards)).toBe(JSON.stringify(forwards));
  });

  test("are listed by the size of their change, and then by id", () => {
    const { changed, changedCount } = compareValues(
      plan,
      { d: 0.5, c: 0.5, b: 0, a: 0.5 },
      { d: 0.75, c: 0.25, b: 1, a: 0.5 },
    );
    expect(changed.map(({ caseId }) => caseId)).toEqual(["b", "c", "d"]);
    expect(changedCount).toBe(3);
  });

  test("are listed up to a bound, the largest changes first", () => {
    const many = Array.from({ length: 5000 }, (_, index) => [`case-${index}`, index / 5000] as const);
    const { changed, changedCount } = compareValues(
      plan,
      Object.fromEntries(many.map(([id]) => [id, 0])),
      Object.fromEntries(many),
    );
    expect(changedCount).toBe(4999);
    expect(changed).toHaveLength(MAX_CHANGED_CASES);
    expect(changed[0]!.caseId).toBe("case-4999");
    expect(changed.at(-1)!.caseId).toBe("case-4000");
  });

  test("are not listed for costs, turns and times", () => {
    const { comparisons, changedCount } = compareValues(
      createPlan([{ type: "time" }]),
      { x: 100, y: 200 },
      { x: 300, y: 100 },
    );
    expect(comparisons).toHaveLength(1);
    expect(changedCount).toBe(0);
  });
});

test("verdicts of two runs are compared with McNemar's test", () => {
  const { comparisons } = compareValues(
    createPlan([EXACT]),
    { u: 1, v: 0, w: 0, x: 0, y: 1 },
    { u: 0, v: 1, w: 1, x: 0, y: 1 },
  );
  // 2 * (1 + 3) / 2^3
  expect(comparisons).toMatchObject([{ mcnemar: { onlyA: 1, onlyB: 2, pValue: 1 }, difference: 0.2 }]);
});

test("a case counts once, with its mean over repetitions", () => {
  const plan = createPlan([EXACT], { repetitions: 2 });
  const builder = new ComparisonBuilder(plan, listDigests(plan), plan, listDigests(plan));
  const add = (run: "addA" | "addB", values: readonly (readonly number[])[]) => {
    for (const [caseNumber, ofCase] of values.entries()) {
      for (const [repetition, value] of ofCase.entries()) {
        builder[run](createScoredRow(plan, caseNumber, value, { repetition }), `case-${caseNumber}`);
      }
    }
  };
  add("addA", [
    [0, 0],
    [1, 0],
    [1, 1],
  ]);
  add("addB", [
    [1, 1],
    [1, 1],
    [1, 1],
  ]);
  const { comparisons, changed } = builder.build();
  // Of 2^2 sign changes of 1 and 0.5, two are as far from 0.
  expect(comparisons).toMatchObject([{ pairs: 3, difference: 0.5, test: "permutation", pValue: 0.5 }]);
  expect(changed.map(({ before, after }) => [before, after])).toEqual([
    [0, 1],
    [0.5, 1],
  ]);
});

describe("configurations and scores", () => {
  const compareConfigurations = (a: SuitePlan, b: SuitePlan, digestsB = listDigests(b)): RunComparison => {
    const builder = new ComparisonBuilder(a, listDigests(a), b, digestsB);
    for (const [index, { name }] of a.configurations.entries()) {
      builder.addA(createScoredRow(a, 0, name.length, { configuration: index }), "x");
    }
    for (const [index, { name }] of b.configurations.entries()) {
      const scores = Object.fromEntries(digestsB.map((digest) => [digest, createScore(name.length + 10)]));
      builder.addB(createRow({ caseNumber: 0, configuration: index, scores }), "x");
    }
    return builder.build();
  };
  const plan = (configurations: string[], scorers: readonly object[] = [EDIT_DISTANCE]) =>
    createPlan(scorers, { configurations });

  test("match by name, in whichever order", () => {
    const comparison = compareConfigurations(plan(["a", "bb", "ccc"]), plan(["dddd", "ccc", "a"]));
    expect(comparison.configurations).toEqual([
      { a: "a", b: "a" },
      { a: "ccc", b: "ccc" },
    ]);
    expect(comparison.configurationsOnlyA).toEqual(["bb"]);
    expect(comparison.configurationsOnlyB).toEqual(["dddd"]);
    expect(comparison.comparisons.map(({ difference }) => difference)).toEqual([10, 10]);
  });

  test("match whatever they are called if each run has one", () => {
    const comparison = compareConfigurations(plan(["old"]), plan(["newer"]));
    expect(comparison.configurations).toEqual([{ a: "old", b: "newer" }]);
    expect(comparison.comparisons).toMatchObject([{ a: "old", b: "newer", difference: 12 }]);
  });

  test("that do not match are only named", () => {
    const comparison = compareConfigurations(plan(["a", "b"]), plan(["c"]));
    expect(comparison).toMatchObject({ comparisons: [], changed: [], configurationsOnlyA: ["a", "b"] });
  });

  test("scores match by name and type, and tell when their scorer has changed", () => {
    const before = plan(["a"], [{ ...EDIT_DISTANCE, name: "near" }, EXACT, { type: "regex", name: "other" }]);
    const after = plan(
      ["a"],
      [{ type: "exact", name: "other" }, { ...EDIT_DISTANCE, name: "near" }, { type: "turns" }],
    );
    const comparison = compareConfigurations(before, after, ["digest-other", "new-digest", "digest-turns"]);
    expect(comparison.scores).toEqual([{ name: "near", type: "edit-distance", changed: true }]);
    expect(comparison.scoresOnlyA).toEqual(["exact", "other"]);
    expect(comparison.scoresOnlyB).toEqual(["other", "turns"]);
    expect(comparison.comparisons).toMatchObject([{ score: "near", pairs: 1, difference: 10 }]);
  });
});
