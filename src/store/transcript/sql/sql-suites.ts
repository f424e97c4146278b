import type { SuiteControl } from "../../../schema/suite.ts";
import type {
  AnsweredCell,
  AnswerTotals,
  CellClaim,
  CellCounts,
  CellRow,
  FinishedCell,
  NewSuiteRun,
  NumberedCase,
  PlannedCell,
  ScoredBy,
  StatusChange,
  StoredAnswer,
  SuiteRunRecord,
  SuiteStore,
} from "../suites.ts";
import { type AnswerPruning, countAnswers, readAnswers } from "./answers.ts";
import type { Engine } from "./engine.ts";
import { addCounts, type CellPage, countCellPage, NO_CELLS, readCells } from "./read-suite-cells.ts";
import { readPending } from "./suite-cells.ts";
import type { ClaimTerms } from "./suite-claims.ts";
import { listRuns, type RunPage, readCases, readCasesByNumbers, readRun } from "./suite-runs.ts";

export class SqlSuites implements SuiteStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  createRun(run: NewSuiteRun): Promise<void> {
    return this.#engine.write("createSuiteRun", run);
  }

  addCases(run: string, cases: readonly NumberedCase[]): Promise<void> {
    return this.#engine.write("addSuiteCases", run, cases);
  }

  addCells(run: string, cells: readonly PlannedCell[]): Promise<void> {
    return this.#engine.write("addSuiteCells", run, cells);
  }

  async startRun(run: string, atMs: number): Promise<SuiteRunRecord> {
    let last: number | undefined = -1;
    while (last !== undefined) last = await this.#engine.write("markReusedCells", run, last);
    return this.#engine.write("startSuiteRun", run, atMs);
  }

  readRun(run: string): Promise<SuiteRunRecord | undefined> {
    return this.#engine.read(() => readRun(run));
  }

  listRuns(page: RunPage): Promise<readonly SuiteRunRecord[]> {
    return this.#engine.read(() => listRuns(page));
  }

  controlRun(run: string, change: Partial<SuiteControl>): Promise<SuiteRunRecord | undefined> {
    return this.#engine.write("controlSuiteRun", run, change);
  }

  setStatus(run: string, change: StatusChange): Promise<void> {
    return this.#engine.write("setSuiteStatus", run, change);
  }

  retryFailed(run: string, failureClass?: string): Promise<number> {
    return this.#engine.write("retryFailedCells", run, failureClass);
  }

  readCases(run: string, from: number, limit: number): Promise<readonly NumberedCase[]> {
    return this.#engine.read(() => readCases(run, from, limit));
  }

  readCasesByNumbers(run: string, numbers: readonly number[]): Promise<readonly NumberedCase[]> {
    return this.#engine.read(() => readCasesByNumbers(run, numbers));
  }

  readPending(run: string, after: number, limit: number): Promise<readonly PlannedCell[]> {
    return this.#engine.read(() => readPending(run, after, limit));
  }

  readCells(run: string, page: CellPage): Promise<readonly CellRow[]> {
    return this.#engine.read(() => readCells(run, page));
  }

  async countCells(run: string): Promise<CellCounts> {
    let counts = NO_CELLS;
    for (let from: number | undefined = 0; from !== undefined; ) {
      const at: number = from;
      const page = await this.#engine.read(() => countCellPage(run, at));
      counts = addCounts(counts, page.counts);
      from = page.next;
      await this.#engine.yieldIfDue();
    }
    return counts;
  }

  claimCells(cells: readonly PlannedCell[], claim: ClaimTerms): Promise<readonly CellClaim[]> {
    return this.#engine.write("claimCells", cells, claim);
  }

  renewClaims(owner: string, untilMs: number): Promise<void> {
    return this.#engine.write("renewClaims", owner, untilMs);
  }

  releaseClaims(owner: string): Promise<void> {
    return this.#engine.write("releaseClaims", owner);
  }

  giveRunToCell(run: string, number: number): Promise<void> {
    return this.#engine.write("giveRunToCell", run, number);
  }

  finishCell(finished: FinishedCell): Promise<void> {
    return this.#engine.write("finishCell", finished);
  }

  recordAnsweredCell(answered: AnsweredCell): Promise<void> {
    return this.#engine.write("recordAnsweredCell", answered);
  }

  addScores(run: string, number: number, cell: string, scores: readonly ScoredBy[]): Promise<void> {
    return this.#engine.write("addScores", run, number, cell, scores);
  }

  async readAnswers(keys: readonly string[], atMs: number): Promise<readonly StoredAnswer[]> {
    const { answers, toTouch } = await this.#engine.read(() => readAnswers(keys, atMs));
    if (toTouch.length > 0) await this.#engine.write("touchAnswers", toTouch, atMs);
    return answers;
  }

  putAnswer(answer: StoredAnswer): Promise<void> {
    return this.#engine.write("putAnswer", answer);
  }

  countAnswers(): Promise<AnswerTotals> {
    return this.#engine.read(() => countAnswers());
  }

  pruneAnswers(prune: AnswerPruning): Promise<{ deleted: number; bytes: number; done: boolean }> {
    return this.#engine.write("pruneAnswers", prune);
  }

  deleteRunPage(run: string, limit: number): Promise<{ done: boolean; rows: number }> {
    return this.#engine.write("deleteSuiteRunPage", run, limit);
  }
}
