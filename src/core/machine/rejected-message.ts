import type { ExtensionMessage, TextContent } from "../../schema/message.ts";

// What input filters leave in the record.

/** The kind of a rejected message in the record, where it is found by its id and text and is seen by no model. */
export const REJECTED_KIND = "rejected-input";

export function buildRejectedMessage(text: string, reason: string, timestamp: number): ExtensionMessage {
  return { role: "extension", kind: REJECTED_KIND, data: { text, reason }, timestamp };
}

/** Builds the content of a user message: a filter's warning follows the text as a block of its own (FILT-04). */
export function buildUserContent(text: string, warning: string | undefined): readonly TextContent[] {
  const textPart = { type: "text" as const, text };
  return warning === undefined ? [textPart] : [textPart, { type: "text", text: warning }];
}
