import type { ExtensionMessage } from "../schema/message.ts";

// What input filters leave behind in the record.

/** How a message that was refused stands in the record: found by its id and its words, seen by no model. */
export const REFUSED_KIND = "rejected-input";

export function refusedMessage(text: string, reason: string, timestamp: number): ExtensionMessage {
  return { role: "extension", kind: REFUSED_KIND, data: { text, reason }, timestamp };
}

/** FILT-04: behind the words, as a block of its own. */
export function withWarning(text: string, warning: string | undefined): string {
  return warning === undefined ? text : `${text}\n\n${warning}`;
}
