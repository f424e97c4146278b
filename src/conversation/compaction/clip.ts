import { type Attachment, formatAttachment, isAttachment } from "../../core/view/attachment.ts";
import { estimateContent } from "../../core/view/estimate.ts";
import { READ_FULL_TOOL } from "../../core/view/view-request.ts";
import type { AgentMessage, Content, ToolResultMessage, UserMessage } from "../../schema/message.ts";
import type { Entry } from "../../schema/record.ts";
import { cutToolResult } from "./cut-text.ts";

// Clips messages that are too long for a view: head and tail stay, and a marker between them names the tool for the rest.

/** The shortest text to which a message is clipped: the marker with some text before and after it. */
export const MIN_CLIPPED_CHARS = 320;

/** The average number of characters of a line of a tool result, where results are cut to lines. */
const CHARS_PER_LINE = 200;

/** The number of characters that an estimate counts as one token. */
const CHARS_PER_TOKEN = 4;

type Clippable = UserMessage | ToolResultMessage;

/** The form of a section's entries. Absent fields leave the messages unchanged. */
export type EntryForm = {
  /** The number of lines that remain of each text of a tool result (CTX-12). */
  readonly maxLines?: number;
  /** The number of characters that remain of the text of a tool result. */
  readonly maxChars?: number;
  /** The number of characters that remain of a user message. */
  readonly maxUserChars?: number;
};

/** Reports whether an entry is a user message: a prompt, steering, a follow-up, an inbox message, a sub-agent's task. */
export function isUserText({ origin, message }: Pick<Entry, "origin" | "message">): boolean {
  return message.role === "user" && origin !== "machine";
}

/** Returns the message of an entry in the form of its section. */
export function formatEntry(
  entry: Pick<Entry, "position" | "origin" | "message">,
  form: EntryForm,
): AgentMessage {
  const { position, message } = entry;
  const { maxLines, maxChars, maxUserChars } = form;
  if (message.role === "toolResult") {
    const lines = maxLines === undefined ? message : cutToolResult(message, maxLines);
    // A clipped text counts its characters from the beginning of the whole one.
    return maxChars === undefined || getMessageText(lines).length <= maxChars
      ? lines
      : clipMessage(message, position, maxChars);
  }
  if (message.role !== "user" || maxUserChars === undefined || !isUserText(entry)) return message;
  return clipMessage(message, position, maxUserChars);
}

/** Computes the characters that results of so many lines may have: minified JSON is one line of any length. */
export function toMaxChars(lines: number): number {
  return Math.max(MIN_CLIPPED_CHARS, lines * CHARS_PER_LINE);
}

/** Returns all text of a message, in which `read_full_message` counts characters. */
export function getMessageText({ content }: { readonly content: readonly Content[] }): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** Clips a message to `maxChars` of text, and its images and files to the same cost. A marker names each omitted part. */
export function clipMessage<M extends Clippable>(message: M, position: number, maxChars: number): M {
  const text = getMessageText(message);
  const clipped = clipText(text, maxChars, position);
  if (clipped === text && !message.content.some((part) => isTooLarge(part, maxChars))) return message;
  let isPlaced = clipped === text;
  const content = message.content.flatMap((part, index): readonly Content[] => {
    if (part.type !== "text") {
      return isTooLarge(part, maxChars) ? [buildTextPart(formatPartMarker(part, position, index))] : [part];
    }
    if (clipped === text) return [part];
    if (isPlaced) return [];
    isPlaced = true;
    return [buildTextPart(clipped)];
  });
  return { ...message, content };
}

function isTooLarge(part: Content, maxChars: number): part is Attachment {
  return isAttachment(part) && estimateContent(part) * CHARS_PER_TOKEN > maxChars;
}

function buildTextPart(text: string): Content {
  return { type: "text", text };
}

/** Returns head and tail of a text, together with the marker at most `maxChars`, if that has room for the marker. */
export function clipText(text: string, maxChars: number, position: number): string {
  if (text.length <= maxChars) return text;
  const room = Math.max(0, maxChars - formatTextMarker(position, text.length, text.length).length);
  const head = alignEnd(text, Math.ceil(room / 2));
  const tail = alignStart(text, text.length - Math.floor(room / 2));
  const clipped = `${text.slice(0, head)}${formatTextMarker(position, head, tail - head)}${text.slice(tail)}`;
  return clipped.length < text.length ? clipped : text;
}

function formatTextMarker(position: number, from: number, omitted: number): string {
  return `\n\n[... ${omitted} characters omitted; to read them, call ${READ_FULL_TOOL} with {"message": ${position}, "from": ${from}} ...]\n\n`;
}

function formatPartMarker(part: Attachment, position: number, index: number): string {
  const call = `call ${READ_FULL_TOOL} with {"message": ${position}, "image": ${index}}`;
  if (part.type === "image" && part.name === undefined) return `[An image is omitted; to see it, ${call}]`;
  return `[The ${formatAttachment(part)} is omitted; to ${part.type === "image" ? "see" : "read"} it, ${call}]`;
}

/** Moves an end so that no character is cut in half. */
function alignEnd(text: string, end: number): number {
  return isLowSurrogate(text, end) ? end - 1 : end;
}

function alignStart(text: string, start: number): number {
  return isLowSurrogate(text, start) ? start + 1 : start;
}

function isLowSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return index > 0 && unit >= 0xdc00 && unit < 0xe000;
}

export function isClippable(message: AgentMessage): message is Clippable {
  return message.role === "user" || message.role === "toolResult";
}
