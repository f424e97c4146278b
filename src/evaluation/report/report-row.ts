import { addCosts, type Cost } from "../../core/budget/usage.ts";
import type { Usage } from "../../schema/message.ts";
import type { Score } from "../../schema/score.ts";

/** What a report reads of a cell of a run. */
export type ReportRow = {
  readonly caseNumber: number;
  readonly configuration: number;
  readonly repetition: number;
  readonly state: "pending" | "finished" | "failed";
  readonly result?: ReportResult | undefined;
  /** By the digest of the scorer. */
  readonly scores: Readonly<Record<string, Score>>;
};

export type ReportResult = {
  /** For a failed cell the class of its failure. */
  readonly outcome: string;
  readonly usage: Usage;
  /** `null` if a price is unknown. */
  readonly costUsd: number | null;
  readonly turns: number;
  readonly durationMs: number;
  readonly paidAnswers: number;
  readonly storedAnswers: number;
};

/**
 * Reads the values of a row by the given scorers; NaN where there is none.
 *
 * Only for finished cells. A failed cell may have scores of an earlier attempt: they are no part of a mean.
 */
export function readValues({ scores }: ReportRow, scorers: readonly string[]): readonly number[] {
  return scorers.map((digest) => scores[digest]?.value ?? Number.NaN);
}

/** Adds the cost of a row's result and of the model calls of its scorers. */
export function computeRowCost({ result, scores }: ReportRow, scorers: Iterable<string>): Cost {
  let cost: Cost = result === undefined ? 0 : result.costUsd;
  for (const digest of scorers) {
    const own = scores[digest]?.costUsd;
    if (own !== undefined) cost = addCosts(cost, own);
  }
  return cost;
}
