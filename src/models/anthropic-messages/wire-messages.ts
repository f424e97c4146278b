import { assertNever } from "../../platform/text/assert-never.ts";
import type { AssistantPart, CallIdRule, ConversationTurn, Part } from "../conversation.ts";
import { parseCallerToken } from "./caller-token.ts";
import { parseCitationToken } from "./citation-token.ts";
import type { WireBlock, WireMessage, WirePart } from "./wire.ts";

const MAX_ID_CHARS = 64;

/** The API accepts `^[a-zA-Z0-9_-]+$`, unique in the conversation. */
export const ANTHROPIC_IDS: CallIdRule = {
  isValid: (id) => id.length <= MAX_ID_CHARS && /^[a-zA-Z0-9_-]+$/.test(id),
  toValid: (id, attempt) => {
    const clean = id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
    if (attempt === 0) return clean.slice(0, MAX_ID_CHARS);
    const suffix = `_${attempt + 1}`;
    return clean.slice(0, MAX_ID_CHARS - suffix.length) + suffix;
  },
};

export function toWireMessages(turns: readonly ConversationTurn[]): readonly WireMessage[] {
  return turns.map(convertTurn).filter((message) => message.content.length > 0);
}

function convertTurn(turn: ConversationTurn): WireMessage {
  switch (turn.role) {
    case "user":
      return { role: "user", content: turn.parts.map(toWirePart) };
    case "assistant":
      return {
        role: "assistant",
        content: turn.parts.flatMap((part) => toAssistantBlocks(part, turn.isSameProvider)),
      };
    case "results":
      return {
        role: "user",
        content: turn.results.map(({ callId, parts, isError }) => ({
          type: "tool_result",
          tool_use_id: callId,
          content: parts.map(toWirePart),
          is_error: isError,
        })),
      };
    default:
      return assertNever(turn);
  }
}

function toWirePart(part: Part): WirePart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image", source: { type: "base64", media_type: part.mimeType, data: part.data } };
    case "file":
      return {
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data: part.data },
        title: part.name,
      };
  }
}

function toAssistantBlocks(part: AssistantPart, isSameProvider: boolean): readonly WireBlock[] {
  switch (part.type) {
    case "text": {
      const citations = isSameProvider ? parseCitationToken(part.signature) : undefined;
      return [{ type: "text", text: part.text, ...(citations !== undefined && { citations }) }];
    }
    case "call":
      return [
        {
          type: "tool_use",
          id: part.id,
          name: part.name,
          input: part.input,
          ...parseCallerToken(part.signature),
        },
      ];
    case "thinking":
      // The vendor accepts only thinking that it signed. Thinking of other vendors is dropped: as text it would read like
      // something that the assistant said.
      if (!isSameProvider || part.signature === undefined) return [];
      return part.redacted === true
        ? [{ type: "redacted_thinking", data: part.signature }]
        : [{ type: "thinking", thinking: part.thinking, signature: part.signature }];
    case "vendor":
      // Stored without interpretation: a turn contains only the blocks of its own vendor.
      return [part.data as WireBlock];
    default:
      return assertNever(part);
  }
}

/**
 * Returns whether the conversation is between calls and their results in a turn that began without thinking. With a
 * fixed budget the API rejects it: thinking cannot be enabled in the middle of a turn.
 */
export function isInTurnWithoutThinking(
  turns: readonly ConversationTurn[],
  messages: readonly WireMessage[],
): boolean {
  if (turns.at(-1)?.role !== "results") return false;
  const begin = messages.findLastIndex(isPrompt) + 1;
  const first = messages[begin]?.content[0];
  return first !== undefined && !first.type.endsWith("thinking");
}

function isPrompt({ role, content }: WireMessage): boolean {
  return role === "user" && !content.some((block) => block.type === "tool_result");
}
