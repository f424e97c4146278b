import { assertNever } from "../../platform/text/assert-never.ts";
import type { OpenAiCompat } from "../../schema/model.ts";
import type { AssistantPart, ConversationTurn, Part, ResultPart } from "../conversation.ts";
import { requiresReasoningBack } from "./quirks.ts";
import { isForeignToken, parseDetails } from "./reasoning.ts";
import type { WireMessage, WirePart } from "./wire.ts";

/** Separates results and a prompt for servers that require an answer there. */
const ACKNOWLEDGEMENT = "I have processed the tool results.";

export function toWireMessages(
  systemPrompt: string,
  turns: readonly ConversationTurn[],
  compat: OpenAiCompat,
  provider: string,
): readonly WireMessage[] {
  const messages: WireMessage[] = [];
  if (systemPrompt.trim() !== "") {
    messages.push({ role: compat.supportsDeveloperRole ? "developer" : "system", content: systemPrompt });
  }
  for (const [at, turn] of turns.entries()) {
    switch (turn.role) {
      case "user":
        messages.push({ role: "user", content: toUserContent(turn.parts) });
        break;
      case "assistant":
        messages.push(...toAssistantMessages(turn.parts, turn.isSameProvider, compat, provider));
        break;
      case "results": {
        const attachments = toAttachmentMessages(turn.results);
        messages.push(...turn.results.map((result) => toResultMessage(result, compat)));
        const prompted = attachments.length > 0 || turns[at + 1]?.role === "user";
        if (compat.requiresAssistantAfterToolResult && prompted) {
          messages.push({ role: "assistant", content: ACKNOWLEDGEMENT });
        }
        messages.push(...attachments);
        break;
      }
      default:
        assertNever(turn);
    }
  }
  return messages;
}

/** Returns a plain string if possible: many local servers do not support parts. */
function toUserContent(parts: readonly Part[]): string | readonly WirePart[] {
  const [first] = parts;
  return parts.length === 1 && first?.type === "text" ? first.text : parts.map(toWirePart);
}

function toWirePart(part: Part): WirePart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } };
    case "file":
      return {
        type: "file",
        file: { filename: part.name, file_data: `data:${part.mimeType};base64,${part.data}` },
      };
  }
}

function toAssistantMessages(
  parts: readonly AssistantPart[],
  isSameProvider: boolean,
  compat: OpenAiCompat,
  provider: string,
): readonly WireMessage[] {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const details: unknown[] = [];
  const calls = parts.filter((part) => part.type === "call");
  for (const part of parts) {
    if (part.type === "text") texts.push(part.text);
    if (part.type !== "thinking") continue;
    if (isSameProvider && !isForeignToken(part.signature)) {
      thoughts.push(part.thinking);
      details.push(...parseDetails(part.signature));
    } else if (part.thinking.trim() !== "") {
      texts.push(`[Reasoning] ${part.thinking}`);
    }
  }
  if (texts.length === 0 && calls.length === 0) return [];
  const sendDetails = compat.thinkingFormat === "openrouter" && details.length > 0;
  return [
    {
      role: "assistant",
      content: texts.length === 0 ? null : texts.join("\n\n"),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, input }) => ({
          id,
          type: "function" as const,
          function: { name, arguments: JSON.stringify(input) },
        })),
      }),
      ...(sendDetails && { reasoning_details: details }),
      ...(calls.length > 0 && requiresReasoningBack(provider) && { reasoning_content: thoughts.join("") }),
    },
  ];
}

function toResultMessage({ callId, name, parts }: ResultPart, compat: OpenAiCompat): WireMessage {
  const text = parts.filter((part) => part.type === "text").map((part) => part.text);
  const hasAttachments = text.length < parts.length;
  return {
    role: "tool",
    tool_call_id: callId,
    content: text.length === 0 && hasAttachments ? formatNote(parts) : text.join("\n"),
    ...(compat.requiresToolResultName && { name }),
  };
}

function formatNote(parts: readonly Part[]): string {
  return parts.some((part) => part.type === "file") ? "(see the attached file)" : "(see the attached image)";
}

/** Returns the images and files of results as user messages, because results contain text only. */
function toAttachmentMessages(results: readonly ResultPart[]): readonly WireMessage[] {
  const parts = results.flatMap(({ name, parts }) => {
    const attached = parts.filter((part) => part.type !== "text").map(toWirePart);
    return attached.length === 0
      ? []
      : [{ type: "text" as const, text: `Attached by ${name}:` }, ...attached];
  });
  return parts.length === 0 ? [] : [{ role: "user", content: parts }];
}
