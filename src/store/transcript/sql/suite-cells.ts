import type { Cost } from "../../../core/budget/usage.ts";
import type { CellKind } from "../../../schema/suite.ts";
import type { CellResult, PlannedCell } from "../suites.ts";
import { insertRows } from "./many-rows.ts";
import { all, exec, get, type Value, type Work } from "./statement.ts";
import { isPlanning, readScorers } from "./suite-runs.ts";

// The rows of a run's cells.

export function* addCells(run: string, cells: readonly PlannedCell[]): Work<void> {
  if (!(yield* isPlanning(run))) return;
  yield* insertRows(
    "suite_cells (run, number, case_number, configuration, repetition, cell, kind, state, cost_usd, paid_usd)",
    cells.map(({ number, caseNumber, configuration, repetition, cell, kind }) => [
      run,
      number,
      caseNumber,
      configuration,
      repetition,
      cell,
      kind,
      "pending",
      0,
      0,
    ]),
  );
}

/** What the scores of a cell have to be, and what they have cost. */
type ScoresSql = { readonly areComplete: string; readonly cost: string; readonly values: readonly Value[] };

function buildScoresSql(scorers: readonly string[]): ScoresSql {
  if (scorers.length === 0) return { areComplete: "1 = 1", cost: "0", values: [] };
  const scores = `FROM suite_scores AS score WHERE score.cell = suite_cells.cell
    AND score.scorer IN (${scorers.map(() => "?").join(", ")})`;
  return {
    areComplete: `(SELECT count(*) ${scores}) = ${scorers.length}`,
    cost: `(SELECT CASE WHEN count(*) = count(cost_usd) THEN coalesce(sum(cost_usd), 0) END ${scores})`,
    values: scorers,
  };
}

const RESULT_COST =
  "(SELECT result.cost_usd FROM suite_results AS result WHERE result.cell = suite_cells.cell)";

/** The cells that one write marks: some tens of milliseconds. */
const REUSE_PAGE = 5000;

/**
 * Marks the cells after a number that are finished and scored already, a page a call. Returns where to continue;
 * undefined at the end.
 */
export function* markReusedCells(run: string, after: number): Work<number | undefined> {
  if (!(yield* isPlanning(run))) return undefined;
  const page = yield* get<{ last: number | null }>(
    `SELECT max(number) AS last FROM
       (SELECT number FROM suite_cells WHERE run = ? AND number > ? ORDER BY number LIMIT ?) AS page`,
    run,
    after,
    REUSE_PAGE,
  );
  if (page === undefined || page.last === null) return undefined;
  const { areComplete, cost, values } = buildScoresSql((yield* readScorers(run)) ?? []);
  yield* exec(
    `UPDATE suite_cells SET state = 'finished', cost_usd = ${RESULT_COST} + ${cost}
     WHERE run = ? AND number > ? AND number <= ? AND state = 'pending'
       AND EXISTS (SELECT 1 FROM suite_results AS result WHERE result.cell = suite_cells.cell AND result.state = 'finished')
       AND ${areComplete}`,
    ...values,
    run,
    after,
    page.last,
    ...values,
  );
  return page.last;
}

/**
 * Brings the row of a cell with a finished result up to date: it is finished once no score of the run's scorers is missing.
 *
 * @param paidUsd - What the run has paid for the cell in this write.
 */
export function* settleCell(run: string, number: number, cell: string, paidUsd: Cost): Work<void> {
  const scorers = yield* readScorers(run);
  if (scorers === undefined) return;
  const { areComplete, cost, values } = buildScoresSql(scorers);
  yield* exec(
    `UPDATE suite_cells SET cost_usd = ${RESULT_COST} + ${cost}, paid_usd = paid_usd + ?,
       failure = CASE WHEN ${areComplete} THEN NULL ELSE failure END,
       state = CASE WHEN ${areComplete} THEN 'finished' ELSE state END
     WHERE run = ? AND number = ? AND cell = ?`,
    ...values,
    paidUsd,
    ...values,
    ...values,
    run,
    number,
    cell,
  );
}

export function* failCell(
  run: string,
  number: number,
  cell: string,
  { outcome, costUsd, paidAnswers }: CellResult,
): Work<void> {
  yield* exec(
    `UPDATE suite_cells SET state = 'failed', failure = ?, cost_usd = ?, paid_usd = paid_usd + ?
     WHERE run = ? AND number = ? AND cell = ?`,
    outcome,
    costUsd,
    paidAnswers === 0 ? 0 : costUsd,
    run,
    number,
    cell,
  );
}

export function* retryFailed(run: string, failureClass?: string): Work<number> {
  const where = `run = ? AND state = 'failed'${failureClass === undefined ? "" : " AND failure = ?"}`;
  const values = failureClass === undefined ? [run] : [run, failureClass];
  const row = yield* get<{ n: number }>(`SELECT count(*) AS n FROM suite_cells WHERE ${where}`, ...values);
  yield* exec(`UPDATE suite_cells SET state = 'pending', failure = NULL WHERE ${where}`, ...values);
  return row?.n ?? 0;
}

export type PlannedRow = {
  number: number;
  case_number: number;
  configuration: number;
  repetition: number;
  cell: string;
  kind: CellKind;
};

export function toPlannedCell(row: PlannedRow): PlannedCell {
  return {
    number: row.number,
    caseNumber: row.case_number,
    configuration: row.configuration,
    repetition: row.repetition,
    cell: row.cell,
    kind: row.kind,
  };
}

export function* readPending(run: string, after: number, limit: number): Work<readonly PlannedCell[]> {
  const rows = yield* all<PlannedRow>(
    `SELECT number, case_number, configuration, repetition, cell, kind FROM suite_cells
     WHERE run = ? AND state = 'pending' AND number > ? ORDER BY number LIMIT ?`,
    run,
    after,
    limit,
  );
  return rows.map(toPlannedCell);
}
