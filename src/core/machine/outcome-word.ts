import type { Outcome } from "../../schema/record.ts";

/** How something ended, in one word. */
export type OutcomeWord = "completed" | "limit-reached" | "failed" | "stopped";

export function outcomeWord(outcome: Outcome | undefined): OutcomeWord {
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
