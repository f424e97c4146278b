import type { ExtensionMessage, TextContent } from "../../schema/message.ts";

// What input filters leave behind in the record.

/** How a message that was refused stands in the record: found by its id and its words, seen by no model. */
export const REJECTED_KIND = "rejected-input";

export function buildRejectedMessage(text: string, reason: string, timestamp: number): ExtensionMessage {
  return { role: "extension", kind: REJECTED_KIND, data: { text, reason }, timestamp };
}

/** The content of a message of a person: a filter's warning stands after the words, as a block of its own (FILT-04). */
export function buildUserContent(text: string, warning: string | undefined): readonly TextContent[] {
  const textPart = { type: "text" as const, text };
  return warning === undefined ? [textPart] : [textPart, { type: "text", text: warning }];
}
