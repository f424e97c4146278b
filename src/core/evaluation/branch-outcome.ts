import { truncateForPreview } from "../../platform/text/preview.ts";
import type { Usage } from "../../schema/message.ts";
import type { Outcome } from "../../schema/record.ts";
import { addUsage } from "../budget/usage.ts";

/** How a branch ended. In every case it is an outcome like any other and takes nothing from the other branches. */
export type BranchStatus =
  | { readonly type: "answered" }
  | {
      readonly type: "failed" | "stopped" | "over-budget";
      /** Why, as a sentence. */
      readonly reason: string;
    };

/** The result of a branch of an evaluation (PAR-03): numbers and references, no text. */
export type BranchOutcome = {
  /** The index of its configuration, from 0. Texts for users and for a judge count from 1. */
  readonly index: number;
  /** Absent when no loop could be opened. */
  readonly loopId?: string;
  /** Where its entries are; absent when it has written none. */
  readonly branch?: string;
  /** The number of entries that all branches began with. Entries from there to this branch's end are its own. */
  readonly originalContextLength: number;
  /** The number of entries on the branch, those at its beginning included. */
  readonly length: number;
  /** How the branch ended. */
  readonly status: BranchStatus;
  readonly usage: Usage;
  /** The UTF-8 size of its last answer's text. */
  readonly textBytes: number;
};

/** Reports whether a branch answered. Only such branches may be chosen, unless none answered. */
export function isUsable({ status }: Pick<BranchOutcome, "status">): boolean {
  return status.type === "answered";
}

/** @param outcome - The outcome of the branch's loop. */
export function toBranchStatus(outcome: Outcome): BranchStatus {
  switch (outcome.type) {
    case "answered":
      return { type: "answered" };
    case "limit-reached":
      return { type: "over-budget", reason: outcome.reason };
    case "stopped":
      return { type: "stopped", reason: outcome.reason };
    case "ended":
      return { type: "stopped", reason: `Ended by ${outcome.by}: ${outcome.reason}` };
    case "paused":
      return { type: "stopped", reason: `Paused: ${outcome.reason}` };
    case "handoff":
      return { type: "stopped", reason: `Handed over: ${outcome.reason}` };
    case "failed":
      return { type: "failed", reason: outcome.message };
    case "rejected":
      return { type: "failed", reason: `Input rejected: ${outcome.reason}` };
    case "delivered":
      return { type: "failed", reason: "It received no prompt." };
  }
}

/** The maximum size of a reason in bytes: every branch may have one. */
const REASON_BYTES = 200;

export function shortStatus(status: BranchStatus): BranchStatus {
  if (status.type === "answered") return status;
  return { ...status, reason: truncateForPreview(status.reason, REASON_BYTES) };
}

/** Sums the usage of all branches, however they ended, and of the evaluation (PAR-01). */
export function sumUsage(outcomes: readonly BranchOutcome[], evaluation: Usage): Usage {
  return outcomes.reduce((sum, { usage }) => addUsage(sum, usage), evaluation);
}
