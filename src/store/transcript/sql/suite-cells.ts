import type { Cost } from "../../../core/budget/usage.ts";
import type { CellKind } from "../../../schema/suite.ts";
import type { CellResult, PlannedCell } from "../suites.ts";
import { insertRows } from "./many-rows.ts";
import { all, exec, get, type Work } from "./statement.ts";
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
  const scorers = (yield* readScorers(run)) ?? [];
  const scores =
    scorers.length === 0
      ? { join: "", cost: "0", having: "" }
      : {
          join: `JOIN suite_scores AS score ON score.result = results.ref
            AND score.scorer IN (${scorers.map(() => "?").join(", ")})`,
          cost: "CASE WHEN count(score.cost_usd) = count(*) THEN sum(score.cost_usd) END",
          having: `HAVING count(*) = ${scorers.length}`,
        };
  yield* exec(
    `UPDATE suite_cells SET state = 'finished', result = found.ref, cost_usd = found.cost_usd FROM (
       SELECT cells.number, results.ref, results.cost_usd + ${scores.cost} AS cost_usd
       FROM suite_cells AS cells JOIN suite_results AS results ON results.cell = cells.cell ${scores.join}
       WHERE cells.run = ? AND cells.number > ? AND cells.number <= ? AND cells.state = 'pending'
         AND results.state = 'finished'
       GROUP BY cells.number, results.ref, results.cost_usd ${scores.having}
     ) AS found
     WHERE suite_cells.run = ? AND suite_cells.number > ? AND suite_cells.number <= ?
       AND suite_cells.number = found.number`,
    ...scorers,
    run,
    after,
    page.last,
    run,
    after,
    page.last,
  );
  return page.last;
}

/** What a finished result means for the row of a run's cell. */
export type CellUpdate = {
  readonly ref: number;
  /** Whether all scores of the run's scorers are there. */
  readonly isComplete: boolean;
  readonly costUsd: Cost;
  /** What the run has paid in this write. */
  readonly paidUsd: Cost;
};

export function* updateCell(
  run: string,
  number: number,
  { ref, isComplete, costUsd, paidUsd }: CellUpdate,
): Work<void> {
  const finish = isComplete ? "state = 'finished', failure = NULL," : "";
  yield* exec(
    `UPDATE suite_cells SET ${finish} result = ?, cost_usd = ?, paid_usd = paid_usd + ? WHERE run = ? AND number = ?`,
    ref,
    costUsd,
    paidUsd,
    run,
    number,
  );
}

/** Returns whether a run's row has had a result, even if it is pending again. */
export function* hasResult(run: string, number: number, ref: number): Work<boolean> {
  const row = yield* get<{ result: number | null }>(
    "SELECT result FROM suite_cells WHERE run = ? AND number = ?",
    run,
    number,
  );
  return row?.result === ref;
}

type FailedCell = Pick<CellResult, "outcome" | "costUsd"> & {
  readonly ref: number;
  /** What the run has paid for the cell in this write. */
  readonly paidUsd: Cost;
};

export function* failCell(
  run: string,
  number: number,
  { ref, outcome, costUsd, paidUsd }: FailedCell,
): Work<void> {
  yield* exec(
    `UPDATE suite_cells SET state = 'failed', failure = ?, result = ?, cost_usd = ?, paid_usd = paid_usd + ?
     WHERE run = ? AND number = ?`,
    outcome,
    ref,
    costUsd,
    paidUsd,
    run,
    number,
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
