import type { Outcome } from "../../schema/record.ts";
import type { OutcomeCode } from "./state/ended-children.ts";

export function getOutcomeCode(outcome: Outcome | undefined): OutcomeCode {
  switch (outcome?.type) {
    case "failed":
      return "failed";
    case "stopped":
    case "rejected":
    case "ended":
    case "paused":
    case "handoff":
      return "stopped";
    case "limit-reached":
      return "limit-reached";
    default:
      return "completed";
  }
}
