import type { AssistantMessage, Usage } from "../../schema/message.ts";
import type { Score } from "../../schema/score.ts";
import type {
  CellKind,
  SuiteCase,
  SuiteControl,
  SuitePlan,
  SuiteStatus,
  SuiteStopCode,
} from "../../schema/suite.ts";
import type { LoopClosing, LoopOpening } from "./loop.ts";
import type { StoreWrite } from "./store-write.ts";

// Runs of suites, the results of their cells, and the answers that cells share.
//
// A run has its own row for each cell: (run, number). What a cell has come to belongs to the cell's id, a hash of what
// determines it, and is shared by all runs that contain the cell.
//
// Invariants
//   S1. Every request can be repeated.
//   S2. A finished result is never replaced; a failed one only by a later attempt.
//   S3. An answer is stored once for its key and is never replaced.
//   S4. A cell that a run has as `finished` has a finished result, and a score of each of the run's scorers.

/** A run before anything is planned. Its id is also its workflow id. */
export type NewSuiteRun = {
  readonly id: string;
  readonly plan: SuitePlan;
  readonly control: SuiteControl;
  /** The digests of the plan's scorers, in their order. */
  readonly scorers: readonly string[];
  readonly atMs: number;
};

/** A stored run of a suite. */
export type SuiteRunRecord = {
  /** The id of the run, which is also its workflow id. */
  readonly id: string;
  /** What the run is pinned to. */
  readonly plan: SuitePlan;
  /** What an operator may change while it works. */
  readonly control: SuiteControl;
  /** The digests of the plan's scorers, in their order. */
  readonly scorers: readonly string[];
  /** How far the run has come. */
  readonly status: SuiteStatus;
  /** Why it was stopped, or has failed. */
  readonly reason?: string | undefined;
  /** Why it was stopped, for code. */
  readonly stopCode?: SuiteStopCode | undefined;
  /** The number of cases. */
  readonly cases: number;
  /** The number of cells. */
  readonly cells: number;
  /** Cells that were finished by other runs when this one started. */
  readonly reused: number;
  /** When its planning began, in Unix milliseconds. */
  readonly createdAtMs: number;
  readonly startedAtMs?: number | undefined;
  readonly endedAtMs?: number | undefined;
};

export type StatusChange = {
  readonly status: SuiteStatus;
  readonly reason?: string | undefined;
  readonly stopCode?: SuiteStopCode | undefined;
  readonly atMs: number;
};

export type NumberedCase = { readonly number: number; readonly value: SuiteCase };

/** `pending`: to be asked or scored. `finished`, `failed`: see the result. */
export type CellState = "pending" | "finished" | "failed";

/** A cell of a run: which case, configuration and repetition it stands for, each from 0. */
export type PlannedCell = {
  /** From 0, in the order in which cells begin. */
  readonly number: number;
  /** The number of the case. */
  readonly caseNumber: number;
  /** The number of the configuration. */
  readonly configuration: number;
  /** The number of the repetition. */
  readonly repetition: number;
  /** The hash of what determines the cell. */
  readonly cell: string;
  /** How the cell is asked. */
  readonly kind: CellKind;
};

/** What a cell has come to. */
export type CellResult = {
  /** Whether the cell is pending, finished or failed. */
  readonly state: "finished" | "failed";
  /** Counted from 1. */
  readonly attempt: number;
  /** Absent for a cell that failed before it had a session. */
  readonly session?: string | undefined;
  readonly loopId?: string | undefined;
  readonly branch?: string | undefined;
  /** `answered`, `limit-reached`, …; for a failure its class. */
  readonly outcome: string;
  /** The failure's text, at most 1000 characters. */
  readonly message?: string | undefined;
  readonly usage: Usage;
  /** `null` if a price is unknown. */
  readonly costUsd: number | null;
  /** The number of turns. */
  readonly turns: number;
  /** The time of the cell, in milliseconds. */
  readonly durationMs: number;
  /** Model answers that were paid, and those that were taken from the store. */
  readonly paidAnswers: number;
  /** Model answers that were taken from the store. */
  readonly storedAnswers: number;
  readonly endedAtMs: number;
};

export type ScoredBy = { readonly scorer: string; readonly score: Score };

/** What a step about one cell of a run writes. */
export type FinishedCell = {
  readonly run: string;
  readonly number: number;
  readonly cell: string;
  readonly result: CellResult;
  readonly scores: readonly ScoredBy[];
};

/** A model's answer, by the digest of its request and repetition. */
export type StoredAnswer = {
  readonly key: string;
  readonly message: AssistantMessage;
  /** Where it was paid. */
  readonly session: string;
  readonly atMs: number;
};

/** A cell of one answer: its session as a whole, its answer, and its result, written together. */
export type AnsweredCell = FinishedCell & {
  readonly opening: LoopOpening;
  /** Builds what follows the opening, from the ids that it has assigned. */
  readonly write: Omit<StoreWrite, "loopId" | "branch">;
  readonly closing: Omit<LoopClosing, "loopId" | "branch">;
};

/** A cell of a run with its result. */
export type CellRow = PlannedCell & {
  /** Whether the cell is pending, finished or failed. */
  readonly state: CellState;
  /** What the cell has come to; absent while it is pending. */
  readonly result?: CellResult | undefined;
  /** By the digest of the scorer. */
  readonly scores: Readonly<Record<string, Score>>;
};

/** `claimed`: by the caller. `busy`: another owner has it. */
export type CellClaim =
  | { readonly number: number; readonly type: "claimed"; readonly attempt: number }
  | { readonly number: number; readonly type: "busy"; readonly untilMs: number }
  /** A result exists; scores of this run's scorers may be missing. */
  | { readonly number: number; readonly type: "finished"; readonly result: CellResult };

/** The cells of a run by state. */
export type CellCounts = {
  /** Cells that are still to be asked or scored. */
  readonly pending: number;
  /** Cells with an answer and all scores. */
  readonly finished: number;
  /** Cells that have failed. */
  readonly failed: number;
  /** The cost of all results and scores in dollars; `null` if the cost of any is unknown. */
  readonly costUsd: number | null;
  /** What was paid since the run started: without cells that other runs had finished before. */
  readonly paidUsd: number | null;
  /** Failures by class. */
  readonly failures: Readonly<Record<string, number>>;
};

/** The size of the answer store. */
export type AnswerTotals = {
  /** The number of stored answers. */
  readonly answers: number;
  /** The size of their texts, in bytes. */
  readonly bytes: number;
  /** When the oldest one was stored, in Unix milliseconds. */
  readonly oldestAtMs?: number | undefined;
};

export interface SuiteStore {
  /** Creates a run in the state `planning`. */
  createRun(run: NewSuiteRun): Promise<void>;
  /** Adds cases and cells of a run that is planning, in pages of at most 500 rows. */
  addCases(run: string, cases: readonly NumberedCase[]): Promise<void>;
  addCells(run: string, cells: readonly PlannedCell[]): Promise<void>;
  /** Ends the planning: marks the cells that are finished and scored already, and counts. Returns the run. */
  startRun(run: string, atMs: number): Promise<SuiteRunRecord>;
  readRun(run: string): Promise<SuiteRunRecord | undefined>;
  /** The newest first. */
  listRuns(page: {
    readonly limit: number;
    readonly tag?: string | undefined;
    readonly name?: string | undefined;
    readonly after?: { readonly createdAtMs: number; readonly id: string } | undefined;
  }): Promise<readonly SuiteRunRecord[]>;
  /** Changes what is given. Returns undefined if the run does not exist. */
  controlRun(run: string, change: Partial<SuiteControl>): Promise<SuiteRunRecord | undefined>;
  setStatus(run: string, change: StatusChange): Promise<void>;
  /** Makes the failed cells of a run pending again, of one class if given. Returns their number. */
  retryFailed(run: string, failureClass?: string): Promise<number>;

  readCases(run: string, from: number, limit: number): Promise<readonly NumberedCase[]>;
  /** The cases with these numbers, in any order. */
  readCasesByNumbers(run: string, numbers: readonly number[]): Promise<readonly NumberedCase[]>;
  /** The pending cells after a number (-1 for all), in order of number. */
  readPending(run: string, after: number, limit: number): Promise<readonly PlannedCell[]>;
  /** The cells after a number (-1 for all), in order of number, with results and the scores of the run's scorers. */
  readCells(
    run: string,
    page: {
      readonly after: number;
      readonly limit: number;
      readonly configuration?: number | undefined;
      readonly state?: CellState | undefined;
      readonly caseNumber?: number | undefined;
    },
  ): Promise<readonly CellRow[]>;
  countCells(run: string): Promise<CellCounts>;

  /**
   * Claims cells for an owner until a time. A claim that has expired, or whose owner is the caller, can be claimed again.
   * A failed result is claimed as its next attempt.
   */
  claimCells(
    cells: readonly PlannedCell[],
    claim: { readonly owner: string; readonly atMs: number; readonly untilMs: number },
  ): Promise<readonly CellClaim[]>;
  /** Extends all claims of an owner. */
  renewClaims(owner: string, untilMs: number): Promise<void>;
  releaseClaims(owner: string): Promise<void>;
  /** Makes a pending cell of a run one that has a run of its own, and gives its claim back. */
  giveRunToCell(run: string, number: number): Promise<void>;

  /** Stores a result, unless the cell has a finished one, and scores, and updates the run's row for the cell. */
  finishCell(finished: FinishedCell): Promise<void>;
  /** Writes the session of a cell of one answer as a whole, with its result and scores. */
  recordAnsweredCell(answered: AnsweredCell): Promise<void>;
  /** Stores missing scores of a finished cell, and marks the run's row as finished when none is missing. */
  addScores(run: string, number: number, cell: string, scores: readonly ScoredBy[]): Promise<void>;

  readAnswers(keys: readonly string[], atMs: number): Promise<readonly StoredAnswer[]>;
  putAnswer(answer: StoredAnswer): Promise<void>;
  countAnswers(): Promise<AnswerTotals>;
  /** Deletes answers that were not used since a time, and then the least recently used ones above a size. A page a call. */
  pruneAnswers(prune: {
    readonly unusedSinceMs?: number | undefined;
    readonly maxBytes?: number | undefined;
    readonly limit: number;
  }): Promise<{ readonly deleted: number; readonly bytes: number; readonly done: boolean }>;

  /** Deletes some rows of a run that has ended: its cells, its cases, then itself. Results and sessions of cells stay. */
  deleteRunPage(run: string, limit: number): Promise<{ readonly done: boolean; readonly rows: number }>;
}
