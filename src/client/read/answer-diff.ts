import type { AgentEvent } from "../../schema/agent-event.ts";
import type { AssistantMessage, Content } from "../../schema/message.ts";

// What one reader has received of a partial answer, and what is new to it. An update contains the whole text of its attempt:
// a reader that missed some receives the rest with the next one, and a retried attempt is recognized because it does not
// continue the earlier text.

type Update = Extract<AgentEvent, { type: "MessageUpdate" }>;

export type AnswerPart = {
  readonly type: "text" | "thinking" | "toolCall";
  /** For a call: the text of its arguments' JSON so far. */
  readonly text: string;
  /** The position of the part in the content of the message, which also has parts without text. */
  readonly contentIndex: number;
  readonly toolCallId?: string;
  readonly toolName?: string;
};

/** An addition to the part at `index` of the parts with text; the first one of a part has `isFirst`. */
export type PartDelta = AnswerPart & { readonly index: number; readonly isFirst: boolean };

export type AnswerDiff = {
  /** Whether the text sent so far is void: the pieces begin the answer again. */
  readonly isReset: boolean;
  readonly deltas: readonly PartDelta[];
  readonly parts: readonly AnswerPart[];
};

export function diffUpdate(sentParts: readonly AnswerPart[], { message }: Update): AnswerDiff {
  const parts = message.content.flatMap(toAnswerParts);
  // Another attempt may have another empty part before the same text.
  const isMoved = sentParts.some(({ contentIndex }, at) => parts[at]?.contentIndex !== contentIndex);
  const pieces = isMoved ? undefined : diffParts(sentParts, parts);
  if (pieces !== undefined) return { isReset: false, deltas: pieces, parts };
  return { isReset: true, deltas: diffParts([], parts) ?? [], parts };
}

/** Returns what the whole answer adds to the sent parts. Compares calls by id: their arguments are no longer text. */
export function diffFinalAnswer(sentParts: readonly AnswerPart[], message: AssistantMessage): AnswerDiff {
  const parts = message.content.flatMap(toAnswerParts);
  const pieces = diffParts(
    sentParts,
    parts.map((part, at) => (part.type === "toolCall" ? { ...part, text: sentParts[at]?.text ?? "" } : part)),
  );
  if (pieces !== undefined) return { isReset: false, deltas: pieces, parts };
  return { isReset: true, deltas: diffParts([], parts) ?? [], parts };
}

/** Returns nothing if the parts do not continue the sent ones. */
function diffParts(
  sentParts: readonly AnswerPart[],
  parts: readonly AnswerPart[],
): readonly PartDelta[] | undefined {
  if (parts.length < sentParts.length) return undefined;
  const pieces: PartDelta[] = [];
  for (const [index, part] of parts.entries()) {
    const before = sentParts[index];
    if (before === undefined) pieces.push({ ...part, index, isFirst: true });
    else if (before.type !== part.type || before.toolCallId !== part.toolCallId) return undefined;
    else if (before.text !== part.text) {
      if (!part.text.startsWith(before.text)) return undefined;
      const text = part.text.slice(before.text.length);
      pieces.push({ ...part, text, index, isFirst: false });
    }
  }
  return pieces;
}

/** Images arrive whole, at the end; empty parts are omitted. */
function toAnswerParts(part: Content, contentIndex: number): readonly AnswerPart[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text, contentIndex }];
    case "thinking":
      return part.thinking === "" ? [] : [{ type: "thinking", text: part.thinking, contentIndex }];
    case "toolCall": {
      const text = typeof part.arguments === "string" ? part.arguments : "";
      return [{ type: "toolCall", text, contentIndex, toolCallId: part.id, toolName: part.name }];
    }
    case "image":
    case "file":
    case "vendor":
      return [];
  }
}
