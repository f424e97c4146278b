import { assertNever } from "../../platform/text/assert-never.ts";
import type { AssistantPart, IdRule, Part, Turn } from "../conversation.ts";
import { callerIn } from "./callers.ts";
import { citationsIn } from "./citations.ts";
import type { WireBlock, WireImage, WireMessage, WireText } from "./wire.ts";

const MAX_ID_CHARS = 64;

/** The API takes `^[a-zA-Z0-9_-]+$`, unique in the conversation. */
export const ANTHROPIC_IDS: IdRule = {
  fits: (id) => id.length <= MAX_ID_CHARS && /^[a-zA-Z0-9_-]+$/.test(id),
  fit: (id, attempt) => {
    const clean = id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
    if (attempt === 0) return clean.slice(0, MAX_ID_CHARS);
    const suffix = `_${attempt + 1}`;
    return clean.slice(0, MAX_ID_CHARS - suffix.length) + suffix;
  },
};

export function wireMessages(turns: readonly Turn[]): readonly WireMessage[] {
  return turns.map(wireMessage).filter((message) => message.content.length > 0);
}

function wireMessage(turn: Turn): WireMessage {
  switch (turn.role) {
    case "user":
      return { role: "user", content: turn.parts.map(wirePart) };
    case "assistant":
      return { role: "assistant", content: turn.parts.flatMap((part) => assistantBlock(part, turn.own)) };
    case "results":
      return {
        role: "user",
        content: turn.results.map(({ callId, parts, isError }) => ({
          type: "tool_result",
          tool_use_id: callId,
          content: parts.map(wirePart),
          is_error: isError,
        })),
      };
    default:
      return assertNever(turn);
  }
}

function wirePart(part: Part): WireText | WireImage {
  return part.type === "text"
    ? { type: "text", text: part.text }
    : { type: "image", source: { type: "base64", media_type: part.mimeType, data: part.data } };
}

function assistantBlock(part: AssistantPart, own: boolean): readonly WireBlock[] {
  switch (part.type) {
    case "text": {
      const citations = own ? citationsIn(part.signature) : undefined;
      return [{ type: "text", text: part.text, ...(citations !== undefined && { citations }) }];
    }
    case "call":
      return [
        { type: "tool_use", id: part.id, name: part.name, input: part.input, ...callerIn(part.signature) },
      ];
    case "thinking":
      // Only what this vendor signed is thinking to it. What others thought is dropped: as text it would read as
      // something that the assistant had said.
      if (!own || part.signature === undefined) return [];
      return part.redacted === true
        ? [{ type: "redacted_thinking", data: part.signature }]
        : [{ type: "thinking", thinking: part.thinking, signature: part.signature }];
    case "vendor":
      // Ours to keep, not to understand: the turn passes on none but its own vendor's.
      return [part.data as WireBlock];
    default:
      return assertNever(part);
  }
}

/**
 * Whether the conversation stands between calls and their results in a turn that began without thinking. With a
 * fixed budget the API refuses it: thinking cannot be switched on in the middle of a turn.
 */
export function inTurnWithoutThinking(turns: readonly Turn[], messages: readonly WireMessage[]): boolean {
  if (turns.at(-1)?.role !== "results") return false;
  const begin = messages.findLastIndex(isPrompt) + 1;
  const first = messages[begin]?.content[0];
  return first !== undefined && !first.type.endsWith("thinking");
}

function isPrompt({ role, content }: WireMessage): boolean {
  return role === "user" && !content.some((block) => block.type === "tool_result");
}
