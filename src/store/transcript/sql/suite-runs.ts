import type { SuiteControl, SuiteStatus, SuiteStopCode } from "../../../schema/suite.ts";
import { StoreError } from "../store-error.ts";
import type { NewSuiteRun, NumberedCase, StatusChange, SuiteRunRecord } from "../suites.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { insertRows, readByKeys } from "./many-rows.ts";
import { all, exec, get, json, type Value, type Work } from "./statement.ts";

export function* createRun({ id, plan, control, scorers, atMs }: NewSuiteRun): Work<void> {
  yield* exec(
    `INSERT INTO suite_runs (id, name, plan, scorers, control_state, concurrency, max_cost_usd, status, cases, cells,
       reused, created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, 'planning', 0, 0, 0, ?) ON CONFLICT DO NOTHING`,
    id,
    plan.name,
    markForEncryption(json(plan), "suite_runs.plan", id),
    json(scorers),
    control.state,
    control.concurrency,
    control.maxCostUsd,
    atMs,
  );
  yield* insertRows(
    "suite_tags (tag, run)",
    plan.tags.map((tag) => [tag, id]),
  );
}

/** Checks that a run is still planning. Rows that a repeated request brings later are ignored. */
export function* isPlanning(run: string): Work<boolean> {
  const row = yield* get<{ status: SuiteStatus }>("SELECT status FROM suite_runs WHERE id = ?", run);
  if (row === undefined) throw new StoreError("other", `Suite run ${run} does not exist.`);
  return row.status === "planning";
}

export function* addCases(run: string, cases: readonly NumberedCase[]): Work<void> {
  if (!(yield* isPlanning(run))) return;
  yield* insertRows(
    "suite_cases (run, number, value)",
    cases.map(({ number, value }) => [
      run,
      number,
      markForEncryption(json(value), "suite_cases.value", run, number),
    ]),
  );
}

/** Ends the planning, after the cells that are finished already are marked. */
export function* startRun(run: string, atMs: number): Work<SuiteRunRecord> {
  if (yield* isPlanning(run)) {
    yield* exec(
      `UPDATE suite_runs SET status = 'running', started_at_ms = ?,
         cases = (SELECT count(*) FROM suite_cases WHERE run = suite_runs.id),
         cells = (SELECT count(*) FROM suite_cells WHERE run = suite_runs.id),
         reused = (SELECT count(*) FROM suite_cells WHERE run = suite_runs.id AND state = 'finished')
       WHERE id = ?`,
      atMs,
      run,
    );
  }
  return (yield* readRun(run))!;
}

export function* controlRun(
  run: string,
  { state, concurrency, maxCostUsd }: Partial<SuiteControl>,
): Work<SuiteRunRecord | undefined> {
  const given: readonly (readonly [string, Value | undefined])[] = [
    ["control_state = ?", state],
    ["concurrency = ?", concurrency],
    ["max_cost_usd = ?", maxCostUsd],
  ];
  for (const [text, value] of given) {
    if (value !== undefined) yield* exec(`UPDATE suite_runs SET ${text} WHERE id = ?`, value, run);
  }
  return yield* readRun(run);
}

const HAS_ENDED: Record<SuiteStatus, boolean> = {
  planning: false,
  running: false,
  paused: false,
  ended: true,
  stopped: true,
  failed: true,
};

/** Sets the status. The time of the end is that of the first request with this status. */
export function* setStatus(run: string, { status, reason, stopCode, atMs }: StatusChange): Work<void> {
  yield* exec(
    `UPDATE suite_runs SET ended_at_ms = CASE WHEN status = ? THEN coalesce(ended_at_ms, ?) ELSE ? END,
       status = ?, reason = ?, stop_code = ? WHERE id = ?`,
    status,
    HAS_ENDED[status] ? atMs : null,
    HAS_ENDED[status] ? atMs : null,
    status,
    markForEncryption(reason ?? null, "suite_runs.reason", run),
    stopCode ?? null,
    run,
  );
}

type RunRow = {
  id: string;
  plan: string;
  scorers: string;
  control_state: SuiteControl["state"];
  concurrency: number;
  max_cost_usd: number | null;
  status: SuiteStatus;
  reason: string | null;
  stop_code: SuiteStopCode | null;
  cases: number;
  cells: number;
  reused: number;
  created_at_ms: number;
  started_at_ms: number | null;
  ended_at_ms: number | null;
};

export function* readRun(run: string): Work<SuiteRunRecord | undefined> {
  const row = yield* get<RunRow>("SELECT * FROM suite_runs WHERE id = ?", run);
  return row === undefined ? undefined : toRunRecord(row);
}

/** Reads the digests of a run's scorers, each once; undefined if the run does not exist. */
export function* readScorers(run: string): Work<readonly string[] | undefined> {
  const row = yield* get<{ scorers: string }>("SELECT scorers FROM suite_runs WHERE id = ?", run);
  return row === undefined ? undefined : [...new Set(JSON.parse(row.scorers) as string[])];
}

/** A page of the list of runs. */
export type RunPage = {
  readonly limit: number;
  readonly tag?: string | undefined;
  readonly name?: string | undefined;
  readonly after?: { readonly createdAtMs: number; readonly id: string } | undefined;
};

export function* listRuns({ limit, tag, name, after }: RunPage): Work<readonly SuiteRunRecord[]> {
  const conditions: string[] = ["1 = 1"];
  const values: Value[] = [];
  const add = (text: string, ...given: Value[]): void => {
    conditions.push(text);
    values.push(...given);
  };
  if (tag !== undefined) add("id IN (SELECT run FROM suite_tags WHERE tag = ?)", tag);
  if (name !== undefined) add("name = ?", name);
  if (after !== undefined) add("(created_at_ms, id) < (?, ?)", after.createdAtMs, after.id);
  const rows = yield* all<RunRow>(
    `SELECT * FROM suite_runs WHERE ${conditions.join(" AND ")} ORDER BY created_at_ms DESC, id DESC LIMIT ?`,
    ...values,
    limit,
  );
  return rows.map(toRunRecord);
}

function toRunRecord(row: RunRow): SuiteRunRecord {
  const plan = decryptColumn(row, "plan", buildAssociatedData("suite_runs.plan", [row.id]));
  const reason = decryptColumn(row, "reason", buildAssociatedData("suite_runs.reason", [row.id]));
  return {
    id: row.id,
    plan: JSON.parse(plan) as SuiteRunRecord["plan"],
    control: { state: row.control_state, concurrency: row.concurrency, maxCostUsd: row.max_cost_usd },
    scorers: JSON.parse(row.scorers) as string[],
    status: row.status,
    ...(reason === null ? {} : { reason }),
    ...(row.stop_code === null ? {} : { stopCode: row.stop_code }),
    cases: row.cases,
    cells: row.cells,
    reused: row.reused,
    createdAtMs: row.created_at_ms,
    ...(row.started_at_ms === null ? {} : { startedAtMs: row.started_at_ms }),
    ...(row.ended_at_ms === null ? {} : { endedAtMs: row.ended_at_ms }),
  };
}

export function* readCases(run: string, from: number, limit: number): Work<readonly NumberedCase[]> {
  const rows = yield* all<CaseRow>(
    "SELECT number, value FROM suite_cases WHERE run = ? AND number >= ? ORDER BY number LIMIT ?",
    run,
    from,
    limit,
  );
  return rows.map((row) => toNumberedCase(run, row));
}

export function* readCasesByNumbers(run: string, numbers: readonly number[]): Work<readonly NumberedCase[]> {
  const rows = yield* readByKeys<CaseRow>(
    "SELECT number, value FROM suite_cases WHERE run = ? AND number",
    numbers,
    [run],
  );
  return rows.map((row) => toNumberedCase(run, row));
}

type CaseRow = { number: number; value: string };

function toNumberedCase(run: string, row: CaseRow): NumberedCase {
  const value = decryptColumn(row, "value", buildAssociatedData("suite_cases.value", [run, row.number]));
  return { number: row.number, value: JSON.parse(value) as NumberedCase["value"] };
}

/** Deletes a page of the run's cells, then of its cases, and at last the run. */
export function* deleteRunPage(run: string, limit: number): Work<{ done: boolean; rows: number }> {
  const row = yield* get<{ status: SuiteStatus }>("SELECT status FROM suite_runs WHERE id = ?", run);
  if (row === undefined) return { done: true, rows: 0 };
  if (!HAS_ENDED[row.status]) {
    throw new StoreError("other", `Suite run ${run} has not ended: it is ${row.status}. Stop it first.`);
  }
  for (const table of ["suite_cells", "suite_cases"]) {
    const page = yield* get<{ rows: number; last: number | null }>(
      `SELECT count(*) AS "rows", max(number) AS last FROM
         (SELECT number FROM ${table} WHERE run = ? ORDER BY number LIMIT ?) AS page`,
      run,
      limit,
    );
    if (page === undefined || page.last === null) continue;
    yield* exec(`DELETE FROM ${table} WHERE run = ? AND number <= ?`, run, page.last);
    return { done: false, rows: page.rows };
  }
  yield* exec("DELETE FROM suite_tags WHERE run = ?", run);
  yield* exec("DELETE FROM suite_runs WHERE id = ?", run);
  return { done: true, rows: 1 };
}
