import { NO_USAGE } from "../core/budget/usage.ts";
import type { StreamDelta } from "../schema/agent-event.ts";
import type { AssistantMessage, Content, TurnId } from "../schema/message.ts";

// An answer while it arrives: what a MessageUpdate shows. The message that ends it comes from the record, never from
// here (EVT-16).

export type LivePiece = StreamDelta & {
  /** Of a piece of a call. */
  readonly toolCallId?: string;
  readonly toolName?: string;
};

/** An answer of which nothing has come yet. */
export function buildEmptyAnswer(
  model: string,
  provider: string,
  atMs: number,
  turnId: TurnId,
): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    stopReason: "stop",
    model,
    provider,
    usage: NO_USAGE,
    timestamp: atMs,
    turnId,
  };
}

/** The answer with one more piece. The arguments of a call are the text that has come of them. */
export function addPiece(answer: AssistantMessage, piece: LivePiece): AssistantMessage {
  const at = findContentIndex(answer.content, piece);
  const before = answer.content[at];
  const content = [
    ...answer.content.slice(0, at),
    extendContent(before, piece),
    ...answer.content.slice(at + 1),
  ];
  return { ...answer, content };
}

/** Text and thinking go on until something else begins; a call is found by its id. */
function findContentIndex(content: readonly Content[], piece: LivePiece): number {
  const last = content.length - 1;
  if (piece.type !== "toolCall") return content[last]?.type === piece.type ? last : content.length;
  const known = content.findLastIndex((part) => part.type === "toolCall" && part.id === piece.toolCallId);
  return known === -1 ? content.length : known;
}

function extendContent(before: Content | undefined, piece: LivePiece): Content {
  switch (piece.type) {
    case "text":
      return { type: "text", text: (before?.type === "text" ? before.text : "") + piece.delta };
    case "thinking":
      return {
        type: "thinking",
        thinking: (before?.type === "thinking" ? before.thinking : "") + piece.delta,
      };
    case "toolCall": {
      const known = before?.type === "toolCall" ? before : undefined;
      return {
        type: "toolCall",
        id: piece.toolCallId ?? "",
        name: known?.name || (piece.toolName ?? ""),
        arguments: String(known?.arguments ?? "") + piece.delta,
      };
    }
  }
}
