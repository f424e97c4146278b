import type { AssistantMessage, UserMessage } from "../../schema/message.ts";

// What a model reads in place of messages that its view omits.

/** The longest text of an answer that its summary repeats, in characters (CTX-13). */
export const MAX_REPEATED_CHARS = 200;

/** Builds a placeholder as a user message, which a vendor accepts at any position. */
export function buildPlaceholder(text: string, timestamp: number): UserMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp };
}

/** Summarises an answer: its text if it is short, otherwise what it did (CTX-13). */
export function summariseAnswer(answer: AssistantMessage): string {
  const texts = answer.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const short = texts.filter((text) => text.trim() !== "" && text.length <= MAX_REPEATED_CHARS);
  if (short.length > 0) return short.join(" ");
  const calls = answer.content.filter(({ type }) => type === "toolCall").length;
  return calls > 0 ? `[Assistant used ${calls} tool(s)]` : "[Assistant response]";
}

/** Formats the marker between the beginning and the end when the middle is removed (CTX-14). */
export function formatMiddleRemoved(messages: number): string {
  return `[Context compacted: ${messages} messages removed to fit context window]`;
}

/** Formats the marker before the newest messages when all others are removed (CTX-14). */
export function formatRemoved(messages: number): string {
  return `[Context compacted: ${messages} messages removed]`;
}
