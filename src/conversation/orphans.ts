import type { AgentMessage, ToolResultMessage } from "../schema/message.ts";

/**
 * Returns why a vendor would reject these messages: a call without a result right after its answer, or a result that no
 * answer requests. Nothing when all pairs are complete. An application's own messages are ignored.
 */
export function findOrphan(messages: readonly AgentMessage[]): string | undefined {
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === "extension") continue;
    if (message.role === "toolResult") {
      if (!open.delete(message.toolCallId))
        return `the result of call ${message.toolCallId} follows no such call`;
      continue;
    }
    const [left] = open;
    if (left !== undefined) return `call ${left} has no result after it`;
    open = message.role === "assistant" ? collectCallIds(message.content) : new Set();
  }
  const [left] = open;
  return left === undefined ? undefined : `call ${left} has no result after it`;
}

function collectCallIds(content: Extract<AgentMessage, { role: "assistant" }>["content"]): Set<string> {
  return new Set(content.flatMap((part) => (part.type === "toolCall" ? [part.id] : [])));
}

/** The result of a call that was never answered, because its run was terminated. */
export const UNANSWERED_CALL =
  "No result: the run ended before this call finished. Check what the call has done before you repeat it.";

/** Gives every call its result right after its answer, and drops results that no answer requests. */
export function answerOrphans<Seen extends AgentMessage>(
  messages: readonly Seen[],
): readonly (Seen | ToolResultMessage)[] {
  const answered: (Seen | ToolResultMessage)[] = [];
  let open = new Map<string, string>();
  const closeOpen = (atMs: number) => {
    for (const [toolCallId, toolName] of open)
      answered.push(buildUnansweredResult(toolCallId, toolName, atMs));
    open = new Map();
  };
  for (const message of messages) {
    if (message.role === "extension") {
      answered.push(message);
      continue;
    }
    if (message.role === "toolResult") {
      if (open.delete(message.toolCallId)) answered.push(message);
      continue;
    }
    closeOpen(message.timestamp);
    answered.push(message);
    if (message.role === "assistant") {
      for (const part of message.content) if (part.type === "toolCall") open.set(part.id, part.name);
    }
  }
  closeOpen(messages.at(-1)?.timestamp ?? 0);
  return answered;
}

function buildUnansweredResult(toolCallId: string, toolName: string, timestamp: number): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId,
    toolName,
    content: [{ type: "text", text: UNANSWERED_CALL }],
    isError: true,
    timestamp,
  };
}
