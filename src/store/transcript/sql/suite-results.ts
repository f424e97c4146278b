import { type Cost, sumCosts } from "../../../core/budget/usage.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Usage } from "../../../schema/message.ts";
import type { Score } from "../../../schema/score.ts";
import type { CellResult, FinishedCell, ScoredBy } from "../suites.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { readByKeys } from "./many-rows.ts";
import { all, exec, get, json, type StatementValue, type Work } from "./statement.ts";
import { failCell, hasResult, updateCell } from "./suite-cells.ts";
import { readScorers } from "./suite-runs.ts";

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

/** A stored result, as far as the row of a run's cell needs it. */
type KnownResult = {
  readonly ref: number;
  readonly state: CellResult["state"];
  readonly attempt: number;
  readonly cost_usd: Cost;
};

function* findResult(cell: string): Work<KnownResult | undefined> {
  return yield* get<KnownResult>(
    "SELECT ref, state, attempt, cost_usd FROM suite_results WHERE cell = ?",
    cell,
  );
}

/** Whether a result would be stored: nothing replaces a finished one, and only a later attempt a failed one (S2). */
export function* isResultNew(cell: string, { attempt }: CellResult): Work<boolean> {
  return isReplaceable(yield* findResult(cell), attempt);
}

function isReplaceable(known: KnownResult | undefined, attempt: number): boolean {
  return known === undefined || (known.state === "failed" && known.attempt < attempt);
}

/**
 * Stores a result with its scores, and settles the run's row. If the cell has another result, that one and its scores
 * count: the given scores belong to an answer that is not stored. A failure that another run has stored is a failure here.
 */
export function* finishCell({ run, number, cell, result, scores }: FinishedCell): Work<void> {
  if (!(yield* isResultNew(cell, result))) {
    const known = yield* findResult(cell);
    // A row that has had this failure before was made pending since: a repeated request does not undo that.
    const isNews = known !== undefined && !(yield* hasResult(run, number, known.ref));
    if (known?.state === "failed" && result.state === "failed" && isNews)
      yield* failCell(run, number, { ...result, ref: known.ref, costUsd: known.cost_usd, paidUsd: 0 });
    else yield* addScores(run, number, cell, []);
    return;
  }
  yield* putResult(cell, result);
  yield* exec("DELETE FROM suite_claims WHERE cell = ?", cell);
  const known = (yield* findResult(cell))!;
  if (result.state === "failed")
    yield* failCell(run, number, { ...result, ref: known.ref, paidUsd: getPaid(result) });
  else yield* settleCell({ run, number, known, scores, paidUsd: getPaid(result) });
}

/** Stores the scores that are missing, and settles the run's row. Ignored if the cell is not finished. */
export function* addScores(
  run: string,
  number: number,
  cell: string,
  scores: readonly ScoredBy[],
): Work<void> {
  const known = yield* findResult(cell);
  if (known?.state === "finished") yield* settleCell({ run, number, known, scores, paidUsd: 0 });
}

type Settlement = {
  readonly run: string;
  readonly number: number;
  readonly known: KnownResult;
  readonly scores: readonly ScoredBy[];
  /** What the run has paid for the result in this write. */
  readonly paidUsd: Cost;
};

/** Stores missing scores, and brings the row up to date: it is finished once all scores of the run's scorers are there. */
function* settleCell({ run, number, known, scores, paidUsd }: Settlement): Work<void> {
  const costs = yield* readScoreCosts(known.ref);
  const missing = new Map(
    scores.filter(({ scorer }) => !costs.has(scorer)).map((one) => [one.scorer, one.score]),
  );
  for (const [scorer, score] of missing) yield* putScore(known.ref, scorer, score);
  const added = [...missing].map(([scorer, score]) => [scorer, getCost(score)] as const);
  const all = new Map([...costs, ...added]);
  const scorers = yield* readScorers(run);
  if (scorers === undefined) return;
  const own = scorers.flatMap((scorer) => {
    const costUsd = all.get(scorer);
    return costUsd === undefined ? [] : [costUsd];
  });
  yield* updateCell(run, number, {
    ref: known.ref,
    isComplete: own.length === scorers.length,
    costUsd: sumCosts([known.cost_usd, ...own]),
    paidUsd: sumCosts([paidUsd, ...added.map(([, costUsd]) => costUsd)]),
  });
}

function* readScoreCosts(ref: number): Work<ReadonlyMap<string, Cost>> {
  const rows = yield* all<{ scorer: string; cost_usd: Cost }>(
    "SELECT scorer, cost_usd FROM suite_scores WHERE result = ?",
    ref,
  );
  return new Map(rows.map(({ scorer, cost_usd }) => [scorer, cost_usd]));
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

function* putScore(ref: number, scorer: string, score: Score): Work<void> {
  const { class: scoreClass, value, passed, ...detail } = score;
  const hasDetail = Object.values(detail).some((given) => given !== undefined);
  yield* exec(
    "INSERT INTO suite_scores (result, scorer, class, value, passed, cost_usd, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
    ref,
    scorer,
    scoreClass,
    value,
    passed === undefined ? null : Number(passed),
    getCost(score),
    markForEncryption(hasDetail ? json(detail) : null, "suite_scores.detail", ref, scorer),
  );
}

/** A scorer that states no cost has none. */
function getCost({ costUsd }: Score): Cost {
  return costUsd === undefined ? 0 : costUsd;
}

export type ScoreRow = {
  result: number;
  scorer: string;
  class: Score["class"];
  value: number | null;
  passed: number | null;
  detail: string | null;
};

export function toScore(row: ScoreRow): Score {
  const associatedData = buildAssociatedData("suite_scores.detail", [row.result, row.scorer]);
  const detail = decryptColumn(row, "detail", associatedData);
  return {
    class: row.class,
    value: row.value,
    ...omitUndefined({ passed: row.passed === null ? undefined : row.passed === 1 }),
    ...(detail === null ? {} : (JSON.parse(detail) as Pick<Score, "explanation" | "points" | "costUsd">)),
  };
}

/** What was paid for a result now: nothing if all of its answers were taken from the store. */
function getPaid({ costUsd, paidAnswers, storedAnswers }: PaidResult): Cost {
  return paidAnswers === 0 && storedAnswers > 0 ? 0 : costUsd;
}

type PaidResult = Pick<CellResult, "costUsd" | "paidAnswers" | "storedAnswers">;
