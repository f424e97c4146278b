import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { ApprovalInput } from "../../workflows/messages.ts";
import type { SentArrival } from "./play-result.ts";

/** Builds the input that a run receives for the user's answer. */
export function buildApprovalInput(sent: Extract<SentArrival, { do: "approve" | "refuse" }>): ApprovalInput {
  const { do: action, call, when: _when, messageId: _id, ...fields } = sent;
  const answer = action === "refuse" ? "deny" : action;
  return { answer, ...omitUndefined({ toolCallId: call }), ...fields } as ApprovalInput;
}
