import { addCosts, type Cost } from "../../../core/budget/usage.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Usage } from "../../../schema/message.ts";
import type { Score } from "../../../schema/scorer.ts";
import type { CellResult, FinishedCell, ScoredBy } from "../suites.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { readByKeys } from "./many-rows.ts";
import { all, exec, get, json, type StatementValue, type Work } from "./statement.ts";
import { failCell, settleCell } from "./suite-cells.ts";

// Results and scores of cells. In PostgreSQL, whoever writes those of a cell holds the lock of the cell.

/** The columns of a result, for a query with its table as `result`. */
export const RESULT_COLUMNS = `result.state AS result_state, result.attempt, result.session, result.loop_id, result.branch,
  result.outcome, result.message, result.usage, result.cost_usd AS result_cost_usd, result.turns, result.duration_ms,
  result.paid_answers, result.stored_answers, result.ended_at_ms`;

export type ResultRow = {
  cell: string;
  result_state: CellResult["state"];
  attempt: number;
  session: string | null;
  loop_id: string | null;
  branch: string | null;
  outcome: string;
  message: string | null;
  usage: string;
  result_cost_usd: number | null;
  turns: number;
  duration_ms: number;
  paid_answers: number;
  stored_answers: number;
  ended_at_ms: number;
};

export function toCellResult(row: ResultRow): CellResult {
  const associatedData = buildAssociatedData("suite_results.message", [row.cell]);
  const message = decryptColumn(row, "message", associatedData);
  return {
    state: row.result_state,
    attempt: row.attempt,
    ...(row.session === null ? {} : { session: row.session }),
    ...(row.loop_id === null ? {} : { loopId: row.loop_id }),
    ...(row.branch === null ? {} : { branch: row.branch }),
    outcome: row.outcome,
    ...(message === null ? {} : { message }),
    usage: JSON.parse(row.usage) as Usage,
    costUsd: row.result_cost_usd,
    turns: row.turns,
    durationMs: row.duration_ms,
    paidAnswers: row.paid_answers,
    storedAnswers: row.stored_answers,
    endedAtMs: row.ended_at_ms,
  };
}

export function* readResults(cells: readonly string[]): Work<ReadonlyMap<string, CellResult>> {
  const rows = yield* readByKeys<ResultRow>(
    `SELECT result.cell, ${RESULT_COLUMNS} FROM suite_results AS result WHERE result.cell`,
    cells,
  );
  return new Map(rows.map((row) => [row.cell, toCellResult(row)]));
}

type KnownResult = Pick<CellResult, "state" | "attempt">;

function* findResult(cell: string): Work<KnownResult | undefined> {
  return yield* get<KnownResult>("SELECT state, attempt FROM suite_results WHERE cell = ?", cell);
}

/** Whether a result would be stored: nothing replaces a finished one, and only a later attempt a failed one (S2). */
export function* isResultNew(cell: string, { attempt }: CellResult): Work<boolean> {
  const known = yield* findResult(cell);
  return known === undefined || (known.state === "failed" && known.attempt < attempt);
}

/**
 * Stores a result with its scores, and settles the run's row. If the cell has another result, that one and its scores
 * count: the given scores belong to an answer that is not stored.
 */
export function* finishCell({ run, number, cell, result, scores }: FinishedCell): Work<void> {
  if (!(yield* isResultNew(cell, result))) {
    yield* addScores(run, number, cell, []);
    return;
  }
  yield* putResult(cell, result);
  yield* exec("DELETE FROM suite_claims WHERE cell = ?", cell);
  if (result.state === "failed") {
    yield* failCell(run, number, cell, result);
    return;
  }
  yield* settleCell(run, number, cell, addCosts(getPaid(result), yield* putScores(cell, scores)));
}

/** Stores the scores that are missing, and settles the run's row. Ignored if the cell is not finished. */
export function* addScores(
  run: string,
  number: number,
  cell: string,
  scores: readonly ScoredBy[],
): Work<void> {
  if ((yield* findResult(cell))?.state !== "finished") return;
  yield* settleCell(run, number, cell, yield* putScores(cell, scores));
}

function* putResult(cell: string, result: CellResult): Work<void> {
  const columns: Readonly<Record<string, StatementValue>> = {
    state: result.state,
    attempt: result.attempt,
    session: result.session ?? null,
    loop_id: result.loopId ?? null,
    branch: result.branch ?? null,
    outcome: result.outcome,
    message: markForEncryption(result.message ?? null, "suite_results.message", cell),
    usage: json(result.usage),
    cost_usd: result.costUsd,
    turns: result.turns,
    duration_ms: result.durationMs,
    paid_answers: result.paidAnswers,
    stored_answers: result.storedAnswers,
    ended_at_ms: result.endedAtMs,
  };
  const names = Object.keys(columns);
  yield* exec(
    `INSERT INTO suite_results (cell, ${names.join(", ")}) VALUES (?, ${names.map(() => "?").join(", ")})
     ON CONFLICT (cell) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(", ")}`,
    cell,
    ...Object.values(columns),
  );
}

/** Stores the scores that are missing, and returns what these have cost. */
function* putScores(cell: string, scores: readonly ScoredBy[]): Work<Cost> {
  if (scores.length === 0) return 0;
  const rows = yield* all<{ scorer: string }>("SELECT scorer FROM suite_scores WHERE cell = ?", cell);
  const known = new Set(rows.map(({ scorer }) => scorer));
  let added: Cost = 0;
  for (const { scorer, score } of scores) {
    if (known.has(scorer)) continue;
    known.add(scorer);
    const { class: scoreClass, value, passed, ...detail } = score;
    const costUsd = score.costUsd === undefined ? 0 : score.costUsd;
    const hasDetail = Object.values(detail).some((given) => given !== undefined);
    yield* exec(
      "INSERT INTO suite_scores (cell, scorer, class, value, passed, cost_usd, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
      cell,
      scorer,
      scoreClass,
      value,
      passed === undefined ? null : Number(passed),
      costUsd,
      markForEncryption(hasDetail ? json(detail) : null, "suite_scores.detail", cell, scorer),
    );
    added = addCosts(added, costUsd);
  }
  return added;
}

export type ScoreRow = {
  cell: string;
  scorer: string;
  class: Score["class"];
  value: number | null;
  passed: number | null;
  detail: string | null;
};

export function toScore(row: ScoreRow): Score {
  const associatedData = buildAssociatedData("suite_scores.detail", [row.cell, row.scorer]);
  const detail = decryptColumn(row, "detail", associatedData);
  return {
    class: row.class,
    value: row.value,
    ...omitUndefined({ passed: row.passed === null ? undefined : row.passed === 1 }),
    ...(detail === null ? {} : (JSON.parse(detail) as Pick<Score, "explanation" | "points" | "costUsd">)),
  };
}

/** What was paid for a result now: nothing if all of its answers were taken from the store. */
function getPaid({ costUsd, paidAnswers }: CellResult): Cost {
  return paidAnswers === 0 ? 0 : costUsd;
}
