import type { AgentMessage } from "../schema/message.ts";

/**
 * What a vendor would refuse of these messages: a call without a result right behind its answer, or a result that no
 * answer asks for; nothing when all pairs are whole. An application's own messages are overlooked.
 */
export function orphanIn(messages: readonly AgentMessage[]): string | undefined {
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === "extension") continue;
    if (message.role === "toolResult") {
      if (!open.delete(message.toolCallId))
        return `the result of call ${message.toolCallId} follows no such call`;
      continue;
    }
    const [left] = open;
    if (left !== undefined) return `call ${left} has no result behind it`;
    open = message.role === "assistant" ? callsOf(message.content) : new Set();
  }
  const [left] = open;
  return left === undefined ? undefined : `call ${left} has no result behind it`;
}

function callsOf(content: Extract<AgentMessage, { role: "assistant" }>["content"]): Set<string> {
  return new Set(content.flatMap((part) => (part.type === "toolCall" ? [part.id] : [])));
}
