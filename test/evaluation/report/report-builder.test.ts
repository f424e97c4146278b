import { describe, expect, test } from "vitest";
import {
  pairConfigurations,
  ReportBuilder,
  type ReportFacts,
  type ReportRow,
  removeVolatileFields,
  type SuiteReport,
} from "../../../src/evaluation/report/index.ts";
import { createRandom } from "../../../src/evaluation/statistics/index.ts";
import type { SuitePlan } from "../../../src/schema/suite.ts";
import type { CellRow } from "../../../src/store/transcript/suites.ts";
import {
  createPlan,
  createRow,
  createScore,
  createScoredRow,
  EDIT_DISTANCE,
  EXACT,
  FACTS,
  listDigests,
} from "./report-fixtures.ts";

function buildReport(plan: SuitePlan, rows: Iterable<ReportRow>, facts: ReportFacts = FACTS): SuiteReport {
  const builder = new ReportBuilder(plan, listDigests(plan));
  for (const row of rows) builder.add(row);
  return builder.build(facts);
}

/** Returns the rows in another order, the same for the same seed. */
function shuffle(rows: readonly ReportRow[], seed: number): readonly ReportRow[] {
  const random = createRandom(seed);
  return rows
    .map((row) => ({ row, key: random.next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ row }) => row);
}

/** A run with two configurations, five scorers, repetitions, failures and pending cells. */
function createMixedRun(durationMs: number): { plan: SuitePlan; rows: readonly ReportRow[] } {
  const plan = createPlan([EXACT, EDIT_DISTANCE, { type: "cost" }, { type: "time" }, { type: "turns" }], {
    configurations: ["small", "large"],
    repetitions: 2,
  });
  const random = createRandom(7);
  const rows = Array.from({ length: 120 }, (_, index): ReportRow => {
    const costUsd = random.next() / 10;
    const turns = 1 + random.nextInt(3);
    const position = {
      caseNumber: index >> 2,
      configuration: index % 2,
      repetition: (index >> 1) % 2,
    };
    const draw = random.next();
    if (draw < 0.1) return createRow({ ...position, state: "failed", outcome: "timeout" });
    if (draw < 0.15) return createRow({ ...position, state: "pending" });
    return createRow({
      ...position,
      costUsd,
      turns,
      durationMs: durationMs + index,
      scores: {
        "digest-exact": { ...createScore(random.nextInt(2)), passed: true },
        "digest-edit-distance": createScore(random.next()),
        "digest-cost": createScore(costUsd),
        "digest-time": createScore(durationMs * random.next()),
        "digest-turns": createScore(turns),
      },
    });
  });
  return { plan, rows };
}

describe("what cells have come to", () => {
  const plan = createPlan([EXACT]);
  const digest = "digest-exact";
  const report = buildReport(plan, [
    createScoredRow(plan, 0, 1, { turns: 2, durationMs: 100, costUsd: 0.25 }),
    createScoredRow(plan, 1, 0, { turns: 3, durationMs: 300, outcome: "limit-reached" }),
    createRow({ caseNumber: 2, state: "failed", outcome: "rate-limited" }),
    createRow({ caseNumber: 3, state: "failed", outcome: "overloaded" }),
    createRow({ caseNumber: 4, state: "failed", outcome: "overloaded" }),
    createRow({ caseNumber: 5, state: "pending" }),
    createRow({
      caseNumber: 6,
      turns: 4,
      scores: { [digest]: { class: "unreadable", value: null, costUsd: 1 } },
    }),
    createRow({ caseNumber: 7, turns: 4, scores: { [digest]: { class: "unscorable", value: null } } }),
    createRow({ caseNumber: 8, turns: 4, scores: { [digest]: { class: "failed", value: null } } }),
  ]);

  test("cells are counted by state, outcome and class of failure", () => {
    expect(report).toMatchObject({ name: "capitals", cells: 9, finished: 5, failed: 3, pending: 1 });
    expect(report.configurations[0]).toMatchObject({
      name: "plain",
      agent: "geographer",
      model: "fake/model",
      outcomes: { answered: 4, "limit-reached": 1 },
      failures: { overloaded: 2, "rate-limited": 1 },
    });
    expect(Object.keys(report.configurations[0]!.failures)).toEqual(["overloaded", "rate-limited"]);
  });

  test("costs contain failed cells and scorers, and turns and times those of finished cells only", () => {
    // 0.25, seven times 0.5, and 1 of the judge.
    expect(report.costUsd).toBe(4.75);
    expect(report.tokens.totalTokens).toBe(8 * 15);
    expect(report.configurations[0]).toMatchObject({ meanTurns: 17 / 5, medianDurationMs: 100 });
  });

  test("the mean is that of scored cells, and the rest is missing", () => {
    expect(report.configurations[0]!.scores[0]).toMatchObject({
      name: "exact",
      count: 2,
      missing: 7,
      mean: 0.5,
      median: 0.5,
      unreadable: 1,
      failed: 1,
      unscorable: 1,
    });
  });

  test("an unknown price makes the cost unknown", () => {
    const unknown = buildReport(plan, [
      createScoredRow(plan, 0, 1),
      createScoredRow(plan, 1, 1, { costUsd: null }),
    ]);
    expect(unknown.costUsd).toBeNull();
  });

  test("a run without cells has a report", () => {
    const empty = buildReport(plan, []);
    expect(empty).toMatchObject({ cells: 0, costUsd: 0, comparisons: [] });
    expect(empty.configurations[0]).toMatchObject({ meanTurns: null, medianDurationMs: null });
    expect(empty.configurations[0]!.scores[0]).toMatchObject({ count: 0, mean: null, interval: null });
  });

  test("passed cells are counted for scorers that tell success from failure", () => {
    const passing = (passed: boolean) => ({ [digest]: { ...createScore(passed ? 1 : 0), passed } });
    const counted = buildReport(plan, [
      createRow({ caseNumber: 0, scores: passing(true) }),
      createRow({ caseNumber: 1, scores: passing(false) }),
      createRow({ caseNumber: 2, scores: passing(true) }),
    ]);
    expect(counted.configurations[0]!.scores[0]!.passed).toBe(2);
    expect(report.configurations[0]!.scores[0]).not.toHaveProperty("passed");
  });

  test("wrong configurations and numbers of digests are refused", () => {
    expect(() => buildReport(plan, [createRow({ caseNumber: 0, configuration: 1 })])).toThrow(
      "The suite has no configuration 1.",
    );
    expect(() => new ReportBuilder(plan, [])).toThrow("1 scorers, 0 digests");
  });

  test("a stored cell fits", () => {
    const stored = {} as CellRow;
    const row: ReportRow = stored;
    expect(row).toBe(stored);
  });
});

test("failed and pending cells never change a mean", () => {
  const { plan, rows } = createMixedRun(100);
  const finished = rows.filter(({ state }) => state === "finished");
  // A failed cell may still have the scores of an earlier attempt.
  const others = rows
    .filter(({ state }) => state !== "finished")
    .map((row) => ({ ...row, scores: { "digest-exact": createScore(0), "digest-cost": createScore(99) } }));
  const readScores = (report: SuiteReport) =>
    report.configurations.map(({ scores }) => scores.map(({ missing: _, ...score }) => score));
  const alone = buildReport(plan, finished);
  const together = buildReport(plan, [...finished, ...others]);
  expect(others.length).toBeGreaterThan(10);
  expect(readScores(together)).toEqual(readScores(alone));
  expect(together.comparisons).toEqual(alone.comparisons);
});

test("the order of cells does not matter", () => {
  const { plan, rows } = createMixedRun(100);
  const expected = JSON.stringify(buildReport(plan, rows));
  for (const seed of [1, 2, 3]) expect(JSON.stringify(buildReport(plan, shuffle(rows, seed)))).toBe(expected);
});

test("two runs with the same answers have the same report, except for volatile fields", () => {
  const first = createMixedRun(100);
  const second = createMixedRun(977);
  const reused = second.rows.map((row): ReportRow => {
    if (row.result === undefined) return row;
    return { ...row, result: { ...row.result, paidAnswers: 0, storedAnswers: 1 } };
  });
  const a = buildReport(first.plan, first.rows, { ...FACTS, startedAtMs: 1, paidUsd: 3 });
  const b = buildReport(second.plan, shuffle(reused, 9), {
    ...FACTS,
    id: "run-2",
    createdAtMs: 2000,
    startedAtMs: 2,
    endedAtMs: 3,
    reused: 120,
    paidUsd: 0,
  });
  expect(JSON.stringify(a)).not.toBe(JSON.stringify(b));
  expect(JSON.stringify(removeVolatileFields(a))).toBe(JSON.stringify(removeVolatileFields(b)));
});

test("what is not volatile stays, also under the name of a volatile field", () => {
  const plan = createPlan([EXACT]);
  const named = {
    ...plan,
    configurations: [{ ...plan.configurations[0]!, parameters: { id: 3, reused: true } }],
  };
  expect(removeVolatileFields(buildReport(named, [createScoredRow(plan, 0, 1)]))).toMatchObject({
    name: "capitals",
    cells: 1,
    costUsd: 0.5,
    configurations: [{ parameters: { id: 3, reused: true }, meanTurns: 1, scores: [{ mean: 1 }] }],
  });
});

test("a few configurations are compared pairwise, many with the first one", () => {
  expect(pairConfigurations(1)).toEqual([]);
  expect(pairConfigurations(3)).toEqual([
    [0, 1],
    [0, 2],
    [1, 2],
  ]);
  expect(pairConfigurations(5)).toHaveLength(10);
  expect(pairConfigurations(6)).toEqual([1, 2, 3, 4, 5].map((b) => [0, b]));
});

test("a report of 10,000 cells is built in seconds", () => {
  const plan = createPlan([EXACT, EDIT_DISTANCE, { type: "cost" }], { configurations: ["a", "b"] });
  const random = createRandom(5);
  const builder = new ReportBuilder(plan, listDigests(plan));
  for (let index = 0; index < 10_000; index++) {
    const scores = {
      "digest-exact": createScore(random.nextInt(2)),
      "digest-edit-distance": createScore(random.next()),
      "digest-cost": createScore(random.next()),
    };
    builder.add(createRow({ caseNumber: index >> 1, configuration: index % 2, scores }));
  }
  const start = performance.now();
  const report = builder.build(FACTS);
  // It takes about 0.1 seconds of CPU time. Other tests may run beside it.
  expect(performance.now() - start).toBeLessThan(5000);
  expect(report.configurations[0]!.scores.map(({ interval }) => interval?.method)).toEqual([
    "wilson",
    "t",
    "t",
  ]);
});
