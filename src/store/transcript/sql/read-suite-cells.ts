import { addCosts, type Cost } from "../../../core/budget/usage.ts";
import type { Score } from "../../../schema/score.ts";
import type { CellCounts, CellRow, CellState } from "../suites.ts";
import { readByKeys } from "./many-rows.ts";
import { all, get, type Value, type Work } from "./statement.ts";
import { type PlannedRow, toPlannedCell } from "./suite-cells.ts";
import { RESULT_COLUMNS, type ResultRow, type ScoreRow, toCellResult, toScore } from "./suite-results.ts";
import { readScorers } from "./suite-runs.ts";

/** A page of a run's cells. */
export type CellPage = {
  readonly after: number;
  readonly limit: number;
  readonly configuration?: number | undefined;
  readonly state?: CellState | undefined;
  readonly caseNumber?: number | undefined;
};

/** Literals, because the indexes of pending and of failed cells serve only these. */
const IS_IN_STATE: Record<CellState, string> = {
  pending: "cells.state = 'pending'",
  finished: "cells.state = 'finished'",
  failed: "cells.state = 'failed'",
};

type Row = PlannedRow & { state: CellState; result: number | null } & (ResultRow | { result_state: null });

export function* readCells(run: string, page: CellPage): Work<readonly CellRow[]> {
  const { where, values } = buildConditions(run, page);
  const rows = yield* all<Row>(
    `SELECT cells.number, cells.case_number, cells.configuration, cells.repetition, cells.cell, cells.kind, cells.state,
       cells.result,
       ${RESULT_COLUMNS}
     FROM suite_cells AS cells LEFT JOIN suite_results AS result ON result.ref = cells.result
     WHERE ${where} ORDER BY cells.number LIMIT ?`,
    ...values,
    page.limit,
  );
  const refs = rows.flatMap(({ result }) => (result === null ? [] : [result]));
  const scores = yield* readScores(run, refs);
  return rows.map((row) => ({
    ...toPlannedCell(row),
    state: row.state,
    ...(row.result_state === null ? {} : { result: toCellResult(row) }),
    scores: scores.get(row.result) ?? {},
  }));
}

function buildConditions(run: string, page: CellPage): { where: string; values: readonly Value[] } {
  const conditions: readonly (readonly [string, number | undefined])[] = [
    ["cells.number > ?", page.after],
    ["cells.configuration = ?", page.configuration],
    ["cells.case_number = ?", page.caseNumber],
  ];
  const given = conditions.filter((one): one is readonly [string, number] => one[1] !== undefined);
  const states = page.state === undefined ? [] : [IS_IN_STATE[page.state]];
  return {
    where: ["cells.run = ?", ...given.map(([text]) => text), ...states].join(" AND "),
    values: [run, ...given.map(([, value]) => value)],
  };
}

/** Reads the scores of results by the run's scorers: by result and scorer. */
function* readScores(
  run: string,
  refs: readonly number[],
): Work<ReadonlyMap<number | null, Readonly<Record<string, Score>>>> {
  const scores = new Map<number, Record<string, Score>>();
  const scorers = refs.length === 0 ? [] : ((yield* readScorers(run)) ?? []);
  if (scorers.length === 0) return scores;
  const rows = yield* readByKeys<ScoreRow>(
    `SELECT result, scorer, class, value, passed, detail FROM suite_scores
     WHERE scorer IN (${scorers.map(() => "?").join(", ")}) AND result`,
    refs,
    scorers,
  );
  for (const row of rows) {
    const own = scores.get(row.result) ?? {};
    own[row.scorer] = toScore(row);
    scores.set(row.result, own);
  }
  return scores;
}

/** The cells that one read counts: some milliseconds. */
const COUNT_PAGE = 10_000;

/** The counts of a page of cells, and where the next page begins: absent at the end. */
export type CountedPage = { readonly counts: CellCounts; readonly next?: number };

export const NO_CELLS: CellCounts = {
  pending: 0,
  finished: 0,
  failed: 0,
  costUsd: 0,
  paidUsd: 0,
  failures: {},
};

type CountRow = {
  state: CellState;
  failure: string | null;
  cells: number;
  cost: number | null;
  costs: number;
  paid: number | null;
  payments: number;
};

export function* countCellPage(run: string, from: number): Work<CountedPage> {
  const rows = yield* all<CountRow>(
    `SELECT state, failure, count(*) AS cells, sum(cost_usd) AS cost, count(cost_usd) AS costs, sum(paid_usd) AS paid,
       count(paid_usd) AS payments
     FROM suite_cells WHERE run = ? AND number >= ? AND number < ? GROUP BY state, failure`,
    run,
    from,
    from + COUNT_PAGE,
  );
  const more = yield* get<{ number: number }>(
    "SELECT number FROM suite_cells WHERE run = ? AND number >= ? ORDER BY number LIMIT 1",
    run,
    from + COUNT_PAGE,
  );
  const counts = rows.map(toCounts).reduce(addCounts, NO_CELLS);
  return { counts, ...(more === undefined ? {} : { next: more.number }) };
}

function toCounts({ state, failure, cells, cost, costs, paid, payments }: CountRow): CellCounts {
  const toCost = (sum: number | null, known: number): Cost => (known < cells ? null : sum);
  return {
    ...NO_CELLS,
    [state]: cells,
    costUsd: toCost(cost, costs),
    paidUsd: toCost(paid, payments),
    failures: failure === null ? {} : { [failure]: cells },
  };
}

/** Associative, with `NO_CELLS` as identity. */
export function addCounts(a: CellCounts, b: CellCounts): CellCounts {
  const failures: Record<string, number> = { ...a.failures };
  for (const [name, cells] of Object.entries(b.failures)) failures[name] = (failures[name] ?? 0) + cells;
  return {
    pending: a.pending + b.pending,
    finished: a.finished + b.finished,
    failed: a.failed + b.failed,
    costUsd: addCosts(a.costUsd, b.costUsd),
    paidUsd: addCosts(a.paidUsd, b.paidUsd),
    failures,
  };
}
