import type { ApprovalInput } from "../../workflows/messages.ts";
import type { SentArrival } from "./play-result.ts";

/** What a run is sent by a person who answers. */
export function buildApprovalInput(sent: Extract<SentArrival, { do: "approve" | "refuse" }>): ApprovalInput {
  const { do: answer, call, when: _when, messageId: _id, ...fields } = sent;
  return { answer, ...(call === undefined ? {} : { toolCallId: call }), ...fields } as ApprovalInput;
}
