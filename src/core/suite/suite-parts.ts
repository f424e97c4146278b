import type { CellKind, SuiteControl, SuiteStopCode } from "../../schema/suite.ts";

// What passes between the workflows of a suite and their activities: ids, hashes and small numbers, no text.

/** The class of failure of a cell whose agent could not end within what the budget of the run has left. */
export const BUDGET_CLASS = "budget";

/** Cells of one kind. Those of the other kind between them do not belong to it. */
export type CellRange = {
  readonly kind: CellKind;
  /** The cells after this number, -1 for all … */
  readonly after: number;
  /** … and up to this one. */
  readonly to: number;
  /** How many of them are pending. */
  readonly cells: number;
};

export type TakeCellsInput = { readonly run: string; readonly after: number };

export type TakenCells = {
  /** Absent when no cell is pending after the given number. */
  readonly range?: CellRange;
  readonly control: SuiteControl;
  /** What the run has paid so far, in billionths of a dollar; `null` if a price is unknown. */
  readonly spentNanoUsd: number | null;
  readonly counts: { readonly pending: number; readonly finished: number; readonly failed: number };
  /** The class of failure of which there are too many. */
  readonly tooMany?: { readonly class: string; readonly failures: number };
};

export type AnswerCellsInput = {
  readonly run: string;
  readonly after: number;
  readonly to: number;
  /** Which of the parts that work side by side this is: it decides its share of the concurrency. */
  readonly lane: number;
  /** What the cells may cost together; `null` without limit. */
  readonly nanoUsd: number | null;
};

/** How a part of a run has ended. */
export type PartEndReason = "done" | "paused" | "stopped" | "budget" | "failures";

export type AnsweredCells = {
  readonly reason: PartEndReason;
  /** The cells that have moved on: they have a result, or are to be asked in another way. */
  readonly cells: number;
  /** The number of the last cell that was looked at. */
  readonly after: number;
  /** What was paid for them, in billionths of a dollar; `null` if a price is unknown. */
  readonly spentNanoUsd?: number | null;
};

export type PrepareCellsInput = Pick<AnswerCellsInput, "run" | "after" | "to"> & {
  /** The most cells that are prepared. */
  readonly limit: number;
};

/** A cell that a run of its own works on. */
export type PreparedCell = {
  readonly number: number;
  readonly session: string;
  readonly attempt: number;
  readonly definitionHash: string;
  /** The hashes of the stored messages, in their order, and their estimated tokens. */
  readonly messages: readonly { readonly ref: string; readonly tokens: number }[];
  /** Continues the session's conversation in place of a first message. */
  readonly continues?: true;
  /** What the timeline displays. */
  readonly summary: string;
};

/** `ended`: the cells that have results already, or have failed before they began. */
export type PreparedCells = {
  readonly cells: readonly PreparedCell[];
  readonly ended: number;
  /** The cells that something else works on, which is not a run of their own. They stay pending. */
  readonly busy: number;
  /** The number of the last cell that was looked at. */
  readonly after: number;
};

/** How the run of a cell has ended. */
export type EndedCell = {
  readonly number: number;
  readonly session: string;
  readonly attempt: number;
  /** Why there is no report. */
  readonly lost?: string;
  /** Another run works on the cell. */
  readonly isJoined?: true;
  readonly durationMs: number;
};

export type FinishCellsInput = { readonly run: string; readonly cells: readonly EndedCell[] };

/** `cells`: those that now have a result. The others stay pending. */
export type FinishedCells = {
  readonly cells: number;
  /** The joined cells whose run has left no result: they can be asked again. */
  readonly left: number;
};

export type EndSuiteInput = {
  readonly run: string;
  readonly stopped?: { readonly reason: string; readonly code: SuiteStopCode };
  readonly failed?: { readonly reason: string };
};

export type SuiteTotals = {
  readonly finished: number;
  readonly failed: number;
  readonly pending: number;
  /** `null` if a price is unknown. */
  readonly costUsd: number | null;
};
