import { expect, test } from "vitest";
import { Context } from "../../src/apps/cli/context.ts";
import { formatCase, formatCellDetails, formatCells } from "../../src/apps/cli/suites/cell-view.ts";
import { formatRunComparison, listComparisonNotes } from "../../src/apps/cli/suites/comparison-view.ts";
import { listCsvFields, listCsvHeads } from "../../src/apps/cli/suites/export-suite.ts";
import { ProgressLine } from "../../src/apps/cli/suites/progress-line.ts";
import { formatReport, summarizeRun } from "../../src/apps/cli/suites/report-view.ts";
import { formatProgress, listMainScores, ProgressMeter } from "../../src/apps/cli/suites/suite-progress.ts";
import type { RunComparison, SuiteCell, SuiteRunStatus } from "../../src/client/index.ts";
import { readReport } from "../../src/client/suites/read-report.ts";
import { resolveSuiteRun } from "../../src/client/suites/resolve-suite-run.ts";
import type { CellRow, SuiteRunRecord } from "../../src/store/transcript/suites.ts";
import { CONTROL, cell, plan, result } from "../transcript/sample-suites.ts";
import { createTerminal } from "./terminal.ts";

const exact = { type: "exact", ignoreCase: false, trim: true, match: "whole" } as const;

const RECORD: SuiteRunRecord = {
  id: "suite-5f0c8d1e-1111-4111-8111-111111111111",
  plan: plan({ scorers: [exact] }),
  control: CONTROL,
  scorers: ["exact-1"],
  status: "ended",
  cases: 4,
  cells: 8,
  reused: 2,
  createdAtMs: 10,
};

/** Four cases of two configurations: `a` has two of them right, `b` one, and one cell of `b` has failed. */
const ROWS: readonly CellRow[] = Array.from({ length: 8 }, (_, number) => {
  const configuration = number % 2;
  const isFailed = number === 7;
  const value = number < (configuration === 0 ? 4 : 2) ? 1 : 0;
  return {
    ...cell(number, { caseNumber: Math.floor(number / 2), configuration }),
    state: isFailed ? ("failed" as const) : ("finished" as const),
    result: result(isFailed ? { state: "failed", outcome: "api" } : {}),
    scores: isFailed ? {} : { "exact-1": { class: "scored" as const, value, passed: value === 1 } },
  };
});

const report = await readReport(
  {
    readCells: async (_run, { after, limit }) => ROWS.filter(({ number }) => number > after).slice(0, limit),
    countCells: async () => ({ pending: 0, finished: 7, failed: 1, costUsd: 4, paidUsd: 3, failures: {} }),
  },
  RECORD,
);

function createContext({ isTTY = false, columns = 200 } = {}) {
  const { streams, said } = createTerminal({ isTTY, env: { NO_COLOR: "1" } });
  Object.assign(streams.stdout, { columns });
  return { context: new Context(streams, {}), said };
}

test("a report has a table by configuration, failures by class, and comparisons", () => {
  const lines = formatReport(createContext().context, report);
  expect(lines[0]).toMatch(/^CONFIGURATION +EXACT +FINISHED +FAILED +USD/);
  expect(lines[1]).toMatch(/^a +0\.500 \[0\.150, 0\.850\] +4\/4 +2\.0000/);
  expect(lines[2]).toMatch(/^b +0\.333 \[0\.\d+, 0\.\d+\] +3\/4 +1 +2\.0000/);
  expect(lines).toContain("1 × api (b 1)");
  expect(lines.at(-1)).toMatch(/^exact +a +b +-0\.333 \[.*no difference shown +3 +mcnemar/);
});

test("a narrow terminal keeps the configuration, its main score and its counts", () => {
  const lines = formatReport(createContext({ isTTY: true, columns: 60 }).context, report);
  expect(lines[0]?.trim().split(/ {2,}/)).toEqual(["CONFIGURATION", "EXACT", "FINISHED", "FAILED"]);
  for (const line of lines.slice(0, 3)) expect(line.length).toBeLessThanOrEqual(60);
});

test("the summary tells what was paid from what the reused cells have cost", () => {
  expect(summarizeRun(report)).toBe(
    `ended · arithmetic · 4 cases · 7 of 8 cells finished (2 reused) · 1 failed · $3.00 paid, $4.00 in all · ${RECORD.id}`,
  );
  // The same sum, with a rounding error.
  const paid = summarizeRun({ ...report, paidUsd: 0.1 + 0.2, costUsd: 0.3 });
  expect(paid).toContain("1 failed · $0.30 · ");
});

function status(finished: number, failed = 0): SuiteRunStatus {
  return {
    ...RECORD,
    status: "running",
    control: { ...CONTROL, maxCostUsd: 5 },
    cells: 100,
    reused: 0,
    finished,
    failed,
    pending: 100 - finished - failed,
    costUsd: 1,
    paidUsd: 1,
    failures: {},
  };
}

test("progress has counts, the rate of the last minute, the cost, the time left and the main scores", () => {
  const meter = new ProgressMeter();
  expect(formatProgress(meter.measure(status(0), 0))).toBe("0/100 cells · 100 pending · $1.00 of $5.00");
  const line = formatProgress(meter.measure(status(39, 1), 20_000, listMainScores(report)));
  expect(line).toContain(
    "39/100 cells · 1 failed · 60 pending · 2.0/s · $1.00 of $5.00 · less than a minute left",
  );
  expect(line).toContain("a exact 0.500 [0.150, 0.850] · b exact 0.333 [");
  // The first minute has no part in the rate of the third.
  expect(meter.measure(status(40), 130_000).cellsPerSecond).toBeUndefined();
});

test("at a terminal the line is updated in place, and a report is printed above it", () => {
  const { context, said } = createContext({ isTTY: true });
  const line = new ProgressLine(context);
  line.show("1/9 cells", 0);
  context.report("Stopping the run …");
  line.end();
  expect(said.err.split("\n")).toHaveLength(2);
  expect(said.err).toMatch(/1\/9 cells.*Stopping the run …\n.*1\/9 cells/s);
});

test("elsewhere a line is printed twice a minute, and when something important changes", () => {
  const { context, said } = createContext();
  const line = new ProgressLine(context);
  for (let second = 0; second <= 60; second++)
    line.show(`${second} of 99 cells`, second * 1000, second === 45);
  line.end();
  expect(said.err).toBe("0 of 99 cells\n30 of 99 cells\n45 of 99 cells\n");
});

const CELL: SuiteCell = {
  ...cell(0),
  state: "finished",
  result: result({ session: "5f0c8d1e-1111-4111-8111-111111111111", costUsd: 0.5 }),
  caseId: "one",
  configurationName: "a",
  scores: [
    { name: "exact", score: { class: "scored", value: 0, explanation: 'The answer is "3",\nnot "2".' } },
  ],
};

test("cells have their scores and sessions", () => {
  const [head, row] = formatCells(createContext().context, [CELL]);
  expect(head).toMatch(/^CASE +CONFIGURATION +REP +STATE +OUTCOME +EXACT +USD +TURNS +SESSION$/);
  expect(row).toMatch(/^one +a +1 +finished +answered +0 +0\.5000 +1 +5f0c8d1e-1111/);
});

test("a case shows what it asks; a cell its answer, why it has its score, and how to see more", () => {
  const { context } = createContext();
  expect(formatCase(context, { id: "one", messages: ["What is\n1 + 1?"], expected: 2 })).toEqual([
    "case one",
    "  asks      What is 1 + 1?",
    "  expected  2",
  ]);
  expect(formatCellDetails(context, CELL, "3")).toEqual([
    "a · repetition 1 · finished · answered · 1 turn · $0.50",
    "  answers   3",
    '  exact  0 · The answer is "3", not "2".',
    "  holdfast show 5f0c8d1e-1111-4111-8111-111111111111",
  ]);
});

test("a line of CSV has a field for each head", () => {
  const fields = listCsvFields(CELL, ["exact", "judge"]);
  expect(fields).toHaveLength(listCsvHeads(["exact", "judge"]).length);
  expect(fields.slice(0, 8)).toEqual(["one", "a", 0, "finished", 0, "scored", undefined, undefined]);
});

test("a comparison lists the changed cases and what keeps the runs apart", () => {
  const comparison: RunComparison = {
    a: "sums",
    b: "sums",
    cases: { both: 3, onlyA: 1, onlyB: 0 },
    configurations: [{ a: "a", b: "a" }],
    configurationsOnlyA: [],
    configurationsOnlyB: ["c"],
    scores: [{ name: "exact", type: "exact", changed: true }],
    scoresOnlyA: [],
    scoresOnlyB: [],
    comparisons: report.comparisons,
    changed: [{ caseId: "one", configuration: "a", score: "exact", before: 1, after: 0 }],
    changedCount: 2,
  };
  const lines = formatRunComparison(createContext().context, comparison, 1);
  expect(lines).toContain("2 case scores changed, the largest change first:");
  expect(lines.at(-2)).toMatch(/^one +a +exact +1\.000 +0\.000 +-1\.000$/);
  expect(lines.at(-1)).toBe("… and 1 more");
  expect(listComparisonNotes(comparison)).toEqual([
    "1 case of the first run is not in the second.",
    "Only the second run has the configuration c.",
    "The scorer of exact has changed between the runs: so may its scores for the same answers.",
  ]);
});

test("a run is found by its id, by a unique beginning with or without `suite-`, or as the last one", async () => {
  const ids = ["suite-5f0c-3", "suite-5f0d-2", "suite-77aa-1"];
  const runs = ids.map((id, index) => ({ ...RECORD, id, createdAtMs: 100 - index }));
  const store = {
    readRun: async (id: string) => runs.find((run) => run.id === id),
    listRuns: async ({ limit }: { readonly limit: number }) => runs.slice(0, limit),
  };
  const find = async (reference: string) => (await resolveSuiteRun(store, reference)).id;
  expect(await find("last")).toBe("suite-5f0c-3");
  expect(await find("77")).toBe("suite-77aa-1");
  expect(await find("suite-5f0d")).toBe("suite-5f0d-2");
  expect(await find("5f0d-2")).toBe("suite-5f0d-2");
  await expect(find("5f0")).rejects.toThrow("several runs: suite-5f0c-3, suite-5f0d-2");
  await expect(find("99")).rejects.toThrow("holdfast eval list");
  await expect(resolveSuiteRun(undefined, "last")).rejects.toThrow("holdfast eval run");
});
