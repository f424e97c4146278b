import type { Outcome } from "../../schema/record.ts";

/** A single-word code for how something ended. */
export type OutcomeCode = "completed" | "limit-reached" | "failed" | "stopped";

export function getOutcomeCode(outcome: Outcome | undefined): OutcomeCode {
  switch (outcome?.type) {
    case "failed":
      return "failed";
    case "stopped":
    case "rejected":
    case "ended":
      return "stopped";
    case "limit-reached":
      return "limit-reached";
    default:
      return "completed";
  }
}
