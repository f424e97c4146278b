import { ComparisonBuilder } from "../../evaluation/report/index.ts";
import type { RunComparison } from "../../evaluation/report/run-comparison.ts";
import type { SuiteRunRecord, SuiteStore } from "../../store/transcript/suites.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { CaseReader } from "./read-cases.ts";
import { readCellRows } from "./read-cell-rows.ts";

/** Compares run `b` with the earlier run `a`, case by case. Reads all cells of both, page by page. */
export async function compareRuns(
  suites: Pick<SuiteStore, "readCases" | "readCells">,
  a: SuiteRunRecord,
  b: SuiteRunRecord,
): Promise<RunComparison> {
  const builder = new ComparisonBuilder(a.plan, a.scorers, b.plan, b.scorers);
  const casesA = new CaseReader(a.id, suites);
  for await (const row of readCellRows(suites, a.id)) builder.addA(row, await casesA.readId(row.caseNumber));
  const casesB = new CaseReader(b.id, suites);
  for await (const row of readCellRows(suites, b.id)) builder.addB(row, await casesB.readId(row.caseNumber));
  const comparison = builder.build();
  if (comparison.comparisons.length === 0) throw createIncomparableError(a, b);
  return comparison;
}

function createIncomparableError(a: SuiteRunRecord, b: SuiteRunRecord): HoldfastError {
  return new HoldfastError(
    "input-invalid",
    `Runs ${a.id} and ${b.id} have no configuration and score in common, so nothing can be compared. The first has ${describePlan(a)}; the second has ${describePlan(b)}.`,
  );
}

function describePlan({ plan }: SuiteRunRecord): string {
  const configurations = plan.configurations.map(({ name }) => name).join(", ");
  const scores = plan.scorers.map(({ name, type }) => name ?? type).join(", ");
  return `the configurations ${configurations} and ${scores === "" ? "no scores" : `the scores ${scores}`}`;
}
