import { ReportBuilder, type SuiteReport } from "../../evaluation/report/index.ts";
import type { SuiteRunRecord, SuiteStore } from "../../store/transcript/suites.ts";
import { readCellRows } from "./read-cell-rows.ts";

/** Reads all cells of a run once, page by page, and reports their scores, costs and failures. */
export async function readReport(
  suites: Pick<SuiteStore, "readCells" | "countCells">,
  record: SuiteRunRecord,
): Promise<SuiteReport> {
  const builder = new ReportBuilder(record.plan, record.scorers);
  for await (const row of readCellRows(suites, record.id)) builder.add(row);
  const { paidUsd } = await suites.countCells(record.id);
  return builder.build({ ...record, paidUsd });
}
