import type { AgentEvent } from "../../client/index.ts";
import type { AssistantMessage, Content } from "../../schema/message.ts";

// What one reader has been shown of an answer in the making, and what is new to it. An update holds all that its attempt
// has said: a reader that missed some is shown the rest with the next one, and an attempt that was made again shows
// itself by not going on from there.

type Update = Extract<AgentEvent, { type: "MessageUpdate" }>;

export type AnswerPart = {
  readonly type: "text" | "thinking" | "toolCall";
  /** Of a call: the pieces of its arguments' JSON. */
  readonly text: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
};

/** More of the part at `index`; the first of a part has `begins`. */
export type PartDelta = AnswerPart & { readonly index: number; readonly begins: boolean };

export type AnswerDiff = {
  /** What was shown of this answer is void: the pieces begin it again. */
  readonly anew: boolean;
  readonly pieces: readonly PartDelta[];
  readonly shown: readonly AnswerPart[];
};

export function diffUpdate(sentParts: readonly AnswerPart[], { message, delta }: Update): AnswerDiff {
  const parts = message.content.flatMap(toAnswerParts);
  const pieces = diffParts(sentParts, parts, delta.delta);
  if (pieces !== undefined) return { anew: false, pieces, shown: parts };
  return { anew: true, pieces: diffParts([], parts) ?? [], shown: parts };
}

/** What the whole answer adds to what was shown of it. Calls are told by their ids: their arguments are not text any more. */
export function diffFinalAnswer(sentParts: readonly AnswerPart[], message: AssistantMessage): AnswerDiff {
  const parts = message.content.flatMap(toAnswerParts);
  const pieces = diffParts(
    sentParts,
    parts.map((part, at) => (part.type === "toolCall" ? { ...part, text: sentParts[at]?.text ?? "" } : part)),
  );
  if (pieces !== undefined) return { anew: false, pieces, shown: parts };
  return { anew: true, pieces: diffParts([], parts) ?? [], shown: parts };
}

/** Nothing when the parts do not go on from what was shown. @param newest - The last piece, which spares a comparison. */
function diffParts(
  sentParts: readonly AnswerPart[],
  parts: readonly AnswerPart[],
  newest?: string,
): readonly PartDelta[] | undefined {
  if (parts.length < sentParts.length) return undefined;
  const pieces: PartDelta[] = [];
  for (const [index, part] of parts.entries()) {
    const before = sentParts[index];
    if (before === undefined) pieces.push({ ...part, index, begins: true });
    else if (before.type !== part.type || before.toolCallId !== part.toolCallId) return undefined;
    else if (before.text !== part.text) {
      const grownByNewest = newest !== undefined && part.text.length === before.text.length + newest.length;
      if (!grownByNewest && !part.text.startsWith(before.text)) return undefined;
      const text = grownByNewest ? newest : part.text.slice(before.text.length);
      pieces.push({ ...part, text, index, begins: false });
    }
  }
  return pieces;
}

/** Pictures come whole, with the end; what is empty shows nothing. */
function toAnswerParts(part: Content): readonly AnswerPart[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "thinking":
      return part.thinking === "" ? [] : [{ type: "thinking", text: part.thinking }];
    case "toolCall": {
      const text = typeof part.arguments === "string" ? part.arguments : "";
      return [{ type: "toolCall", text, toolCallId: part.id, toolName: part.name }];
    }
    case "image":
    case "vendor":
      return [];
  }
}
