import type { Content, ExtensionMessage } from "../../schema/message.ts";
import { type Attachment, formatAttachment } from "../view/attachment.ts";

// What input filters leave in the record.

/** The kind of a rejected message in the record, where it is found by its id and text and is seen by no model. */
export const REJECTED_KIND = "rejected-input";

/** @param attached - Images and files of the message: the record names them. */
export function buildRejectedMessage(
  text: string,
  reason: string,
  timestamp: number,
  attached: readonly Attachment[] = [],
): ExtensionMessage {
  const attachments = attached.length === 0 ? {} : { attachments: attached.map(formatAttachment) };
  return { role: "extension", kind: REJECTED_KIND, data: { text, reason, ...attachments }, timestamp };
}

/** Builds the content of a user message: a filter's warning follows the text as a block of its own (FILT-04). */
export function buildUserContent(
  given: string | readonly Content[],
  warning: string | undefined,
): readonly Content[] {
  const content = typeof given === "string" ? [{ type: "text" as const, text: given }] : given;
  return warning === undefined ? content : [...content, { type: "text", text: warning }];
}
