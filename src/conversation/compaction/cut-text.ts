import type { AgentMessage, Content } from "../../schema/message.ts";

/**
 * Returns the first and last lines of a text, `maxLines` together, and a note of the number of omitted lines between them
 * (CTX-12).
 *
 * The note and its blank lines are added to `maxLines`. A line break at the end begins no line.
 */
export function cutText(text: string, maxLines: number): string {
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
  if (text === "" || lines.length <= maxLines) return text;
  const head = Math.floor(maxLines / 2);
  const tail = maxLines - head;
  const omitted = lines.length - maxLines;
  const end = lines.slice(lines.length - tail);
  return `${lines.slice(0, head).join("\n")}\n\n[... ${omitted} lines truncated ...]\n\n${end.join("\n")}`;
}

/** Cuts every text of a tool result. Other messages, and results that are short enough, are returned unchanged. */
export function cutToolResult<M extends AgentMessage>(message: M, maxLines: number): M {
  if (message.role !== "toolResult") return message;
  const content = message.content.map((part) => cutContent(part, maxLines));
  return content.every((part, index) => part === message.content[index]) ? message : { ...message, content };
}

function cutContent(content: Content, maxLines: number): Content {
  if (content.type !== "text") return content;
  const text = cutText(content.text, maxLines);
  return text === content.text ? content : { ...content, text };
}
