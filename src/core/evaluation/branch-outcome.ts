import { truncateForPreview } from "../../platform/text/preview.ts";
import type { Usage } from "../../schema/message.ts";
import type { Outcome } from "../../schema/record.ts";
import { addUsage } from "../budget/usage.ts";

/** How a branch ended. However it did, it is an outcome beside the others and takes nothing from them. */
export type BranchStatus =
  | { readonly type: "answered" }
  | { readonly type: "failed" | "stopped" | "over-budget"; readonly reason: string };

/** What a branch of an evaluation has come to (PAR-03): numbers and references, no text of it. */
export type BranchOutcome = {
  /** Of its configuration, from 0. Words for people and for a judge count from 1. */
  readonly index: number;
  /** Absent when no loop could be opened. */
  readonly loopId?: string;
  /** Where its entries are; absent when it has written none. */
  readonly branch?: string;
  /** Entries that all branches began with, and those of this one at its end: what lies between is its own. */
  readonly originalContextLength: number;
  readonly length: number;
  readonly status: BranchStatus;
  readonly usage: Usage;
  /** Of its last answer's text, in UTF-8. */
  readonly textBytes: number;
};

/** A branch that answered may be chosen; another only where none did. */
export function isUsable({ status }: Pick<BranchOutcome, "status">): boolean {
  return status.type === "answered";
}

/** @param outcome - Of the branch's loop. */
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
    case "failed":
      return { type: "failed", reason: outcome.message };
    case "rejected":
      return { type: "failed", reason: `Input rejected: ${outcome.reason}` };
    case "delivered":
      return { type: "failed", reason: "It received no prompt." };
  }
}

/** Of a reason in words, in bytes: every branch may have one. */
const REASON_BYTES = 200;

export function shortStatus(status: BranchStatus): BranchStatus {
  if (status.type === "answered") return status;
  return { ...status, reason: truncateForPreview(status.reason, REASON_BYTES) };
}

/** PAR-01: of all branches, however they ended, and of the evaluation. */
export function sumUsage(outcomes: readonly BranchOutcome[], evaluation: Usage): Usage {
  return outcomes.reduce((sum, { usage }) => addUsage(sum, usage), evaluation);
}
