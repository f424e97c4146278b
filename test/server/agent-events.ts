import { parseJsonEventStream, readUIMessageStream, type UIMessage, uiMessageChunkSchema } from "ai";
import type { UiChunk } from "../../src/apps/server/ui-chunk.ts";
import type { AgentEvent } from "../../src/schema/agent-event.ts";
import type { AssistantMessage, Content, StopReason } from "../../src/schema/message.ts";
import type { Outcome } from "../../src/schema/record.ts";

// Events of a loop, in the order of a session's stream, and a page that reads the resulting chunks.

const NO_USAGE = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const timestamp = "2026-01-01T00:00:00.000Z";
export const loopId = "loop-1";

export const agentStart: AgentEvent = {
  type: "AgentStart",
  agentId: "0b9f0c8e-7a53-4d7e-9c5a-6d1f3a2b4c5d",
  agentName: "teller",
  sessionId: "s",
  loopId,
  continuationKind: { type: "initial" },
  timestamp,
};

export const turnStart = (turnIndex: number): AgentEvent => ({
  type: "TurnStart",
  loopId,
  turnIndex,
  timestamp,
  triggeredBy: "user",
});

export function answer(content: Content[], stopReason: StopReason = "stop"): AssistantMessage {
  return {
    role: "assistant",
    content,
    stopReason,
    model: "m",
    provider: "p",
    usage: NO_USAGE,
    timestamp: 1,
    turnId: { loopId, turnIndex: 0 },
  };
}

export const text = (value: string): Content => ({ type: "text", text: value });
export const thinking = (value: string): Content => ({ type: "thinking", thinking: value });
export const call = (id: string, args: unknown, name = "bash"): Content => ({
  type: "toolCall",
  id,
  name,
  arguments: args,
});

/** An update as live output creates it: all text of the attempt so far, and the newest chunk. */
export function messageUpdate(
  content: Content[],
  type: "text" | "thinking" | "toolCall",
  delta: string,
): AgentEvent {
  return { type: "MessageUpdate", loopId, message: answer(content), delta: { type, delta } };
}

export const messageEnd = (message: AssistantMessage): AgentEvent => ({
  type: "MessageEnd",
  loopId,
  message,
});

export const userMessage = (messageText: string): AgentEvent => ({
  type: "MessageEnd",
  loopId,
  message: { role: "user", content: [text(messageText)], timestamp: 1, turnId: { loopId, turnIndex: 0 } },
});

export const toolStart = (toolCallId: string): AgentEvent => ({
  type: "ToolExecutionStart",
  loopId,
  toolCallId,
  toolName: "bash",
  args: {},
});

export const toolUpdate = (toolCallId: string, output: string): AgentEvent => ({
  type: "ToolExecutionUpdate",
  loopId,
  toolCallId,
  toolName: "bash",
  partialResult: { content: [text(output)] },
});

export const toolEnd = (toolCallId: string, output: string, isError = false): AgentEvent => ({
  type: "ToolExecutionEnd",
  loopId,
  toolCallId,
  toolName: "bash",
  result: { content: [text(output)] },
  isError,
});

export const turnEnd = (message: AssistantMessage, turnIndex = 0): AgentEvent => ({
  type: "TurnEnd",
  loopId,
  turnIndex,
  message,
  usage: NO_USAGE,
  timestamp,
  toolResults: [],
});

export const agentEnd = (outcome: Outcome = { type: "answered", stopReason: "stop" }): AgentEvent => ({
  type: "AgentEnd",
  loopId,
  messages: [],
  usage: NO_USAGE,
  outcome,
  timestamp,
});

/** Reads chunks with the AI SDK, which checks each against its own schema. */
export async function readPage(
  chunks: readonly UiChunk[],
  message?: UIMessage,
): Promise<{ readonly message: UIMessage; readonly errors: readonly string[] }> {
  const lines = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  const parsed = parseJsonEventStream({
    stream: new Blob([lines]).stream(),
    schema: uiMessageChunkSchema,
  });
  const stream = parsed.pipeThrough(
    new TransformStream({
      transform(one, controller) {
        if (!one.success) throw one.error;
        controller.enqueue(one.value);
      },
    }),
  );
  const errors: string[] = [];
  let last: UIMessage | undefined;
  const read = readUIMessageStream({
    stream,
    ...(message === undefined ? {} : { message }),
    onError: (error) => errors.push((error as Error).message),
  });
  for await (const one of read) last = one;
  if (last === undefined) throw new Error(`The page shows nothing: ${errors.join("; ")}`);
  return { message: last, errors };
}
