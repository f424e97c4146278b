import { describe, expect, test } from "vitest";
import {
  adjustComparisons,
  compareScores,
  type PairedScores,
  ReportBuilder,
  type ScoreComparison,
} from "../../../src/evaluation/report/index.ts";
import { createRandom } from "../../../src/evaluation/statistics/index.ts";
import {
  createPlan,
  createRow,
  createScore,
  EDIT_DISTANCE,
  EXACT,
  FACTS,
  listDigests,
} from "./report-fixtures.ts";

/** @param values - The mean of each case, by number; null for a case without a score. */
function createSide(name: string, values: readonly (number | null)[], isSingle = true): PairedScores {
  const entries = values.flatMap((value, number) => (value === null ? [] : [[number, value] as const]));
  return { name, means: new Map(entries), isSingle };
}

function compare(
  before: readonly (number | null)[],
  after: readonly (number | null)[],
  { type = "edit-distance" as ScoreComparison["type"], isSingle = true, permutations = true } = {},
): ScoreComparison {
  const sides = [createSide("a", before, isSingle), createSide("b", after, isSingle)] as const;
  return compareScores(...sides, { score: "own", type, permutations });
}

describe("verdicts without repetitions", () => {
  // On 1 case only a passes, on 7 only b, on 2 both.
  const before = [1, 0, 0, 0, 0, 0, 0, 0, 1, 1];
  const after = [0, 1, 1, 1, 1, 1, 1, 1, 1, 1];

  test("are compared with McNemar's exact test", () => {
    const comparison = compare(before, after, { type: "exact" });
    // 2 * (1 + 8) / 2^8
    const pValue = 18 / 256;
    expect(comparison).toMatchObject({
      score: "own",
      a: "a",
      b: "b",
      pairs: 10,
      test: "mcnemar",
      difference: 0.6,
      pValue,
      adjustedPValue: pValue,
      mcnemar: { onlyA: 1, onlyB: 7, pValue },
      verdict: "no difference shown",
    });
    expect(comparison.interval!.low).toBeLessThan(0.6);
    // The differences are -1, seven times 1, and twice 0: the sum of squares is 8, 8 - 10 * 0.36 = 4.4.
    expect(comparison.effectSize).toBeCloseTo(0.6 / Math.sqrt(4.4 / 9), 12);
  });

  test("have the p-value that the permutation test has", () => {
    const permuted = compare(before, after, { type: "exact", isSingle: false });
    expect(permuted).toMatchObject({ test: "permutation", difference: 0.6 });
    expect(permuted.pValue).toBeCloseTo(18 / 256, 12);
    expect(permuted).not.toHaveProperty("mcnemar");
  });

  test("that are all better are shown to be better, and in the other direction worse", () => {
    const zeros = Array.from({ length: 8 }, () => 0);
    const ones = zeros.map(() => 1);
    expect(compare(zeros, ones, { type: "exact" })).toMatchObject({ pValue: 2 / 256, verdict: "better" });
    expect(compare(ones, zeros, { type: "exact" })).toMatchObject({ difference: -1, verdict: "worse" });
  });
});

describe("other scores", () => {
  const before = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
  const after = [0.2, 0.4, 0.6, 0.8, 1, 1.2];

  test("are compared with a permutation test", () => {
    const comparison = compare(before, after);
    // Of 2^6 sign changes, two are as far from 0.
    expect(comparison).toMatchObject({ test: "permutation", pValue: 2 / 64, verdict: "better" });
    expect(comparison.difference).toBeCloseTo(0.35, 12);
    // The variance of 0.1 .. 0.6 is 0.035.
    expect(comparison.effectSize).toBeCloseTo(0.35 / Math.sqrt(0.035), 10);
    expect(comparison.interval!.low).toBeCloseTo(0.35 - 2.570_58 * Math.sqrt(0.035 / 6), 5);
  });

  test("of which lower is better are worse when they are higher", () => {
    for (const type of ["cost", "turns", "time"] as const) {
      expect(compare(before, after, { type }).verdict).toBe("worse");
      expect(compare(after, before, { type }).verdict).toBe("better");
    }
  });

  test("that are costs are not verdicts, also when each is 0 or 1", () => {
    expect(compare([0, 0, 1], [1, 1, 0], { type: "cost" }).test).toBe("permutation");
  });

  test("are compared with a t test where permutations are not admitted", () => {
    const comparison = compare([0, 0, 0, 0], [1, 2, 3, 4], { permutations: false });
    // t = 2.5 / sqrt(5 / 3 / 4) = 3.87298 with 3 degrees of freedom.
    expect(comparison).toMatchObject({ test: "t", difference: 2.5 });
    expect(comparison.pValue).toBeCloseTo(0.030_466, 5);
  });

  test("without a spread have a p-value in a t test, too", () => {
    expect(compare([0, 0, 0], [2, 2, 2], { permutations: false })).toMatchObject({
      pValue: 0.25,
      effectSize: null,
    });
    expect(compare([1, 1, 1], [1, 1, 1], { permutations: false })).toMatchObject({
      pValue: 1,
      difference: 0,
    });
  });

  test("of many pairs have about the same p-value in both tests", () => {
    const random = createRandom(2);
    const values = Array.from({ length: 200 }, () => random.next());
    const others = values.map((value) => value + random.next() - 0.46);
    const permuted = compare(values, others).pValue!;
    expect(permuted).toBeGreaterThan(0.001);
    expect(Math.abs(permuted - compare(values, others, { permutations: false }).pValue!)).toBeLessThan(0.01);
  });
});

test("cases with a score of one side only are counted and left out", () => {
  const comparison = compare([0.1, null, 0.3, 0.5, 0.7], [0.2, 0.9, 0.4, null, null, 1]);
  expect(comparison).toMatchObject({ pairs: 2, unpairedA: 2, unpairedB: 2 });
  expect(comparison.difference).toBeCloseTo(0.1, 12);
});

test("fewer than two pairs show nothing", () => {
  const nothing = {
    interval: null,
    test: null,
    pValue: null,
    adjustedPValue: null,
    verdict: "no difference shown",
  };
  expect(compare([], [1])).toMatchObject({ ...nothing, pairs: 0, difference: null });
  expect(compare([1], [0.5])).toMatchObject({ ...nothing, pairs: 1, difference: -0.5 });
});

describe("the adjustment of p-values", () => {
  const zeros = (count: number) => Array.from({ length: count }, () => 0);
  const ones = (count: number) => Array.from({ length: count }, () => 1);
  const sure = compare(zeros(8), ones(8), { type: "exact" });
  const weak = compare(zeros(6), ones(6), { type: "exact" });

  test("is Holm's, and decides the verdict", () => {
    // 2 / 256 * 3 and 2 / 64 * 2.
    const adjusted = adjustComparisons([weak, sure, weak]);
    expect(weak.verdict).toBe("better");
    expect(adjusted.map(({ adjustedPValue }) => adjustedPValue)).toEqual([0.0625, 6 / 256, 0.0625]);
    expect(adjusted.map(({ verdict }) => verdict)).toEqual([
      "no difference shown",
      "better",
      "no difference shown",
    ]);
  });

  test("leaves out comparisons without a p-value, and adjusts times by themselves", () => {
    const none = compare([], []);
    const time = compare([1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0], { type: "time" });
    const adjusted = adjustComparisons([none, weak, time]);
    expect(adjusted.map(({ adjustedPValue }) => adjustedPValue)).toEqual([null, 2 / 64, 2 / 64]);
    expect(adjusted.map(({ verdict }) => verdict)).toEqual(["no difference shown", "better", "better"]);
  });
});

test("a report compares its configurations on the same cases, by every score", () => {
  const plan = createPlan([EXACT, EDIT_DISTANCE], { configurations: ["small", "large"] });
  const builder = new ReportBuilder(plan, listDigests(plan));
  for (let caseNumber = 0; caseNumber < 12; caseNumber++) {
    for (const configuration of [0, 1]) {
      const scores = {
        "digest-exact": createScore(configuration),
        "digest-edit-distance": createScore(caseNumber / 20 + configuration * 0.3 * (caseNumber % 2)),
      };
      builder.add(createRow({ caseNumber, configuration, scores }));
    }
  }
  // The large one fails on a case on which the small one has answered.
  builder.add(createRow({ caseNumber: 12, configuration: 0, scores: { "digest-exact": createScore(1) } }));
  builder.add(createRow({ caseNumber: 12, configuration: 1, state: "failed" }));
  const { comparisons } = builder.build(FACTS);
  expect(comparisons).toMatchObject([
    { score: "exact", a: "small", b: "large", pairs: 12, unpairedA: 1, mcnemar: { onlyA: 0, onlyB: 12 } },
    { score: "edit-distance", pairs: 12, unpairedA: 0, test: "permutation", pValue: 2 / 64 },
  ]);
  expect(comparisons.map(({ verdict }) => verdict)).toEqual(["better", "better"]);
  expect(comparisons[0]!.adjustedPValue).toBe(4 / 4096);
});
