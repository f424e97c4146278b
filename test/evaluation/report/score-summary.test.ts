import { describe, expect, test } from "vitest";
import { ReportBuilder, type ReportRow, type ScoreSummary } from "../../../src/evaluation/report/index.ts";
import { createRandom } from "../../../src/evaluation/statistics/index.ts";
import type { SuitePlan } from "../../../src/schema/suite.ts";
import {
  createPlan,
  createRow,
  createScoredRow,
  EDIT_DISTANCE,
  EXACT,
  FACTS,
  listDigests,
} from "./report-fixtures.ts";

function summarise(plan: SuitePlan, rows: readonly ReportRow[]): ScoreSummary {
  const builder = new ReportBuilder(plan, listDigests(plan));
  for (const row of rows) builder.add(row);
  return builder.build(FACTS).configurations[0]!.scores[0]!;
}

/** @param values - For each case the values of its repetitions; null for a failed cell. */
function createRows(plan: SuitePlan, values: readonly (readonly (number | null)[])[]): readonly ReportRow[] {
  return values.flatMap((ofCase, caseNumber) =>
    ofCase.map((value, repetition) =>
      value === null
        ? createRow({ caseNumber, repetition, state: "failed" })
        : createScoredRow(plan, caseNumber, value, { repetition }),
    ),
  );
}

describe("the interval of verdicts", () => {
  const plan = createPlan([EXACT]);
  const repeated = createPlan([EXACT], { repetitions: 2 });

  test("without repetitions it is Wilson's", () => {
    const { mean, interval } = summarise(plan, createRows(plan, [[1], [1], [1], [0]]));
    expect(mean).toBe(0.75);
    // (3 + 1.9208) / (4 + 3.8416) -+ 1.96 * sqrt(4 * 0.1875 + 0.9604) / 7.8416
    expect(interval).toMatchObject({ method: "wilson", confidence: 0.95 });
    expect(interval!.low).toBeCloseTo(0.300_64, 4);
    expect(interval!.high).toBeCloseTo(0.954_41, 4);
  });

  test("with repetitions it is clustered by case, within 0 and 1", () => {
    const { mean, interval } = summarise(
      repeated,
      createRows(repeated, [
        [1, 1],
        [0, 0],
        [1, 0],
        [1, 1],
      ]),
    );
    expect(mean).toBe(0.625);
    // Sums of distances: 0.75, -1.25, -0.25, 0.75; squares 2.75; sqrt(4 / 3 * 2.75) / 8 = 0.23936; t(3) = 3.18245.
    expect(interval).toMatchObject({ method: "clustered", high: 1 });
    expect(interval!.low).toBe(0);
    const wide = createRows(
      repeated,
      Array.from({ length: 16 }, (_, index) => [1, index % 2]),
    );
    // Half of the cases 1, half 0.5: distances -+0.5; sqrt(16 / 15 * 4) / 32 = 0.064550; t(15) = 2.13145.
    expect(summarise(repeated, wide).interval!.low).toBeCloseTo(0.75 - 2.131_45 * 0.064_55, 5);
    expect(summarise(repeated, wide).interval!.high).toBeCloseTo(0.75 + 2.131_45 * 0.064_55, 5);
  });

  test("where cases do not differ it is Wilson's over cells", () => {
    for (const values of [
      [
        [1, 1],
        [1, 1],
      ],
      [
        [1, 0],
        [0, 1],
      ],
    ]) {
      expect(summarise(repeated, createRows(repeated, values)).interval!.method).toBe("wilson");
    }
    expect(
      summarise(
        repeated,
        createRows(repeated, [
          [1, 1],
          [1, 1],
        ]),
      ).interval,
    ).toMatchObject({ high: 1 });
  });

  test("of one case it is Wilson's over its repetitions", () => {
    expect(summarise(repeated, createRows(repeated, [[1, 0]])).interval!.method).toBe("wilson");
  });

  test("a case of which one repetition has failed is a cluster of one", () => {
    const summary = summarise(
      repeated,
      createRows(repeated, [
        [1, null],
        [0, 0],
        [1, 1],
      ]),
    );
    expect(summary).toMatchObject({ count: 5, missing: 1, mean: 0.6 });
    expect(summary.interval!.method).toBe("clustered");
  });
});

describe("the interval of other scores", () => {
  const plan = createPlan([EDIT_DISTANCE]);
  const random = createRandom(3);
  const draw = (count: number) =>
    createRows(
      plan,
      Array.from({ length: count }, () => [random.next()]),
    );

  test.each([
    [1, undefined],
    [2, "t"],
    [9, "t"],
    [10, "bca"],
    [500, "bca"],
    [501, "t"],
  ])("of %i values it is %s", (count, method) => {
    expect(summarise(plan, draw(count)).interval?.method).toBe(method);
  });

  test("of two values it is Student's", () => {
    const { interval } = summarise(plan, createRows(plan, [[0.2], [0.6]]));
    // 0.4 -+ 12.7062 * 0.2
    expect(interval!.low).toBeCloseTo(0.4 - 2.541_24, 5);
    expect(interval!.high).toBeCloseTo(0.4 + 2.541_24, 5);
  });

  test("with repetitions it is clustered, and not bounded", () => {
    const repeated = createPlan([EDIT_DISTANCE], { repetitions: 2 });
    const { interval } = summarise(
      repeated,
      createRows(repeated, [
        [0.9, 1],
        [0.1, 0.3],
      ]),
    );
    expect(interval!.method).toBe("clustered");
    expect(interval!.high).toBeGreaterThan(1);
  });

  test("costs, turns and times are never verdicts, also where each is 1", () => {
    const turns = createPlan([{ type: "turns" }], { repetitions: 2 });
    const summary = summarise(
      turns,
      createRows(turns, [
        [1, 1],
        [1, 1],
      ]),
    );
    expect(summary.interval).toMatchObject({ method: "t", low: 1, high: 1 });
    expect(summary).not.toHaveProperty("passAtK");
  });

  test("a score is one of verdicts only if it is in all configurations", () => {
    const two = createPlan([EDIT_DISTANCE], { configurations: ["a", "b"] });
    const verdicts = createRows(two, [[1], [0], [1]]);
    expect(summarise(two, verdicts).interval!.method).toBe("wilson");
    const other = createScoredRow(two, 0, 0.5, { configuration: 1 });
    expect(summarise(two, [...verdicts, other]).interval!.method).toBe("t");
  });
});

test("a report with too many values for the bootstrap uses t intervals", () => {
  const configurations = Array.from({ length: 5 }, (_, index) => `c${index}`);
  const plan = createPlan([EDIT_DISTANCE], { configurations });
  const random = createRandom(3);
  const readMethods = (count: number) => {
    const builder = new ReportBuilder(plan, listDigests(plan));
    for (let configuration = 0; configuration < count; configuration++) {
      for (let caseNumber = 0; caseNumber < 500; caseNumber++) {
        builder.add(createScoredRow(plan, caseNumber, random.next(), { configuration }));
      }
    }
    return builder.build(FACTS).configurations.map(({ scores }) => scores[0]!.interval?.method);
  };
  expect(new Set(readMethods(4))).toEqual(new Set(["bca", undefined]));
  expect(new Set(readMethods(5))).toEqual(new Set(["t"]));
});

describe("pass rates", () => {
  test("are means over cases", () => {
    const plan = createPlan([EXACT], { repetitions: 3 });
    const summary = summarise(
      plan,
      createRows(plan, [
        [1, 0, 0],
        [1, 1, 1],
        [0, 0, 0],
        [1, 1, 0],
      ]),
    );
    // k = 2: 1 - C(2, 2) / 3 = 2 / 3, 1, 0, 1. All of two: 0, 1, 0, 1 / 3.
    expect(summary.passAtK!.map(({ k }) => k)).toEqual([1, 2, 3]);
    expect(summary.passAtK!.map(({ value }) => value)).toEqual([
      expect.closeTo(0.5),
      expect.closeTo(8 / 12),
      expect.closeTo(0.75),
    ]);
    expect(summary.passHatK!.map(({ value }) => value)).toEqual([
      expect.closeTo(0.5),
      expect.closeTo(1 / 3),
      expect.closeTo(0.25),
    ]);
  });

  test("of k attempts leave out cases with fewer verdicts, and count the others", () => {
    const plan = createPlan([EXACT], { repetitions: 2 });
    const summary = summarise(
      plan,
      createRows(plan, [
        [1, null],
        [0, 1],
        [null, null],
      ]),
    );
    expect(summary.passAtK).toEqual([
      { k: 1, value: 0.75, cases: 2 },
      { k: 2, value: 1, cases: 1 },
    ]);
  });

  test("of one attempt are equal to the mean", () => {
    const random = createRandom(11);
    for (let round = 0; round < 50; round++) {
      const repetitions = 2 + random.nextInt(9);
      const plan = createPlan([EXACT], { repetitions });
      const values = Array.from({ length: 1 + random.nextInt(12) }, () =>
        Array.from({ length: repetitions }, () => random.nextInt(2)),
      );
      const summary = summarise(plan, createRows(plan, values));
      expect(summary.passAtK![0]!.value).toBeCloseTo(summary.mean!, 12);
      expect(summary.passHatK![0]!.value).toBeCloseTo(summary.mean!, 12);
      const rates = summary.passAtK!.map(({ value }) => value);
      expect(rates).toEqual([...rates].sort((a, b) => a - b));
    }
  });

  test("are absent without repetitions", () => {
    const plan = createPlan([EXACT]);
    expect(summarise(plan, createRows(plan, [[1], [0]]))).not.toHaveProperty("passAtK");
  });
});
