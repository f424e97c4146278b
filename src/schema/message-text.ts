import type { AgentMessage, Content } from "./message.ts";

/** Joins the texts of a message's parts, without thinking, calls, images, files and vendors' blocks. */
export function joinText(content: readonly Content[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Returns the text of a message, without thinking, calls, images, files and vendors' blocks; empty for extension messages. */
export function getMessageText(message: AgentMessage): string {
  return message.role === "extension" ? "" : joinText(message.content);
}
