import { NO_USAGE } from "../core/budget/usage.ts";
import type { StreamDelta } from "../schema/agent-event.ts";
import type { AssistantMessage, Content, TurnId } from "../schema/message.ts";

// An answer while it arrives, as a MessageUpdate contains it. The message that ends it comes from the record, never from
// here (EVT-16).

export type LivePiece = Pick<StreamDelta, "type" | "delta"> & {
  /** Present for a piece of a call. */
  readonly toolCallId?: string;
  readonly toolName?: string;
};

/** Builds an answer of which nothing has arrived yet. */
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

/** Adds one piece to the answer. The arguments of a call are the text that has arrived so far. */
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

/** Finds the content that a piece belongs to: text and thinking continue until other content begins; calls have an id. */
export function findContentIndex(content: readonly Content[], piece: LivePiece): number {
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
