import type { ApprovalWords } from "../../workflows/messages.ts";
import type { Sent } from "./played.ts";

/** What a run is sent by a person who answers. */
export function approvalWords(sent: Extract<Sent, { do: "approve" | "refuse" }>): ApprovalWords {
  const { do: answer, call, when: _when, messageId: _id, ...rest } = sent;
  return { answer, ...(call === undefined ? {} : { toolCallId: call }), ...rest } as ApprovalWords;
}
