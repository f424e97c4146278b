import { assertNever } from "../../platform/text/assert-never.ts";
import { asObject, getOwn } from "../../platform/text/json.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { AssistantPart, CallIdRule, ConversationTurn, Part } from "../conversation.ts";
import { parseCitationToken } from "./citation-token.ts";
import { canReadThoughts, describeConverseModel } from "./converse-model.ts";
import { DocumentNames } from "./document-names.ts";
import type { WireBlock, WireMessage, WirePart, WireText } from "./wire.ts";

const MAX_ID_CHARS = 64;

export const BEDROCK_IDS: CallIdRule = {
  // The ids of some models' calls contain a point or a colon, which the API accepts.
  isValid: (id, own) =>
    id.length <= MAX_ID_CHARS && (own ? /^[a-zA-Z0-9_.:-]+$/ : /^[a-zA-Z0-9_-]+$/).test(id),
  toValid: (id, attempt) => {
    const clean = id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
    if (attempt === 0) return clean.slice(0, MAX_ID_CHARS);
    const suffix = `_${attempt + 1}`;
    return clean.slice(0, MAX_ID_CHARS - suffix.length) + suffix;
  },
};

/** The API requires that the first message is a user's. */
const OPENING_MESSAGE: WireMessage = { role: "user", content: [{ text: "(The conversation begins.)" }] };

/** The API requires that a result is not empty. */
const EMPTY_OUTPUT: WireText = { text: "(no output)" };

/** The API requires a text beside a document. */
const DOCUMENT_NOTE: WireText = { text: "(see the attached document)" };

const IMAGE_FORMATS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/jpg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};

/** Converts the turns. Users and assistants must alternate: consecutive content of the same side becomes one message. */
export function toWireMessages(
  turns: readonly ConversationTurn[],
  model: ModelConfig,
): readonly WireMessage[] {
  const messages: WireMessage[] = [];
  const names = new DocumentNames();
  for (const turn of turns) {
    const { role, content } = convertTurn(turn, model, names);
    const last = messages.at(-1);
    if (content.length === 0) continue;
    if (last?.role === role) messages[messages.length - 1] = { role, content: [...last.content, ...content] };
    else messages.push({ role, content });
  }
  return messages[0]?.role === "assistant" ? [OPENING_MESSAGE, ...messages] : messages;
}

function convertTurn(turn: ConversationTurn, model: ModelConfig, names: DocumentNames): WireMessage {
  switch (turn.role) {
    case "user":
      return { role: "user", content: toWireParts(turn.parts, names) };
    case "assistant": {
      const includesThoughts = turn.isSameProvider && canReadThoughts(model, turn.model);
      return {
        role: "assistant",
        content: turn.parts.flatMap((part) => toAssistantBlocks(part, includesThoughts)),
      };
    }
    case "results": {
      const { takesStatus } = describeConverseModel(model);
      return {
        role: "user",
        content: turn.results.map(({ callId, parts, isError }) => ({
          toolResult: {
            toolUseId: callId,
            content: parts.length === 0 ? [EMPTY_OUTPUT] : toWireParts(parts, names),
            ...(takesStatus && { status: isError ? ("error" as const) : ("success" as const) }),
          },
        })),
      };
    }
    default:
      return assertNever(turn);
  }
}

function toWireParts(parts: readonly Part[], names: DocumentNames): readonly WirePart[] {
  const content = parts.map((part) => toWirePart(part, names));
  const isBare = content.some((part) => "document" in part) && !content.some((part) => "text" in part);
  return isBare ? [...content, DOCUMENT_NOTE] : content;
}

function toWirePart(part: Part, names: DocumentNames): WirePart {
  if (part.type === "text") return { text: part.text };
  if (part.type === "file")
    return { document: { format: "pdf", name: names.next(part.name), source: { bytes: part.data } } };
  const format = getOwn(IMAGE_FORMATS, part.mimeType.toLowerCase());
  if (format === undefined) return { text: `(An image of type ${part.mimeType} is omitted.)` };
  return { image: { format, source: { bytes: part.data } } };
}

/** @param thoughts - Whether the model accepts the thinking of the turn's author. */
function toAssistantBlocks(part: AssistantPart, includesThoughts: boolean): readonly WireBlock[] {
  switch (part.type) {
    case "text": {
      if (part.text.trim() === "") return [];
      const citations = includesThoughts ? parseCitationToken(part.signature) : [];
      if (citations.length === 0) return [{ text: part.text }];
      return [{ citationsContent: { content: [{ text: part.text }], citations } }];
    }
    case "call":
      return [{ toolUse: { toolUseId: part.id, name: part.name, input: part.input } }];
    case "thinking": {
      const { thinking: text, signature, redacted } = part;
      // Models that do not sign their thinking reject it in a request.
      if (!includesThoughts || signature === undefined || isForeignToken(signature)) return [];
      if (redacted === true) return [{ reasoningContent: { redactedContent: signature } }];
      return [{ reasoningContent: { reasoningText: { text, signature } } }];
    }
    case "vendor":
      return includesThoughts && isConverseBlock(part.data) ? [part.data as WireBlock] : [];
    default:
      return assertNever(part);
  }
}

/** Bedrock serves other protocols under the same name; their tokens are JSON, and those of this one never are. */
function isForeignToken(signature: string): boolean {
  return /^\s*[[{]/.test(signature);
}

function isConverseBlock(data: unknown): boolean {
  const block = asObject(data);
  return ["toolUse", "toolResult", "image"].some((kind) => block?.[kind] !== undefined);
}

/**
 * Returns whether the conversation is between calls and their results in a turn that began without thinking. With a fixed
 * budget Claude rejects it: thinking cannot be enabled in the middle of a turn.
 */
export function isInTurnWithoutThinking(
  turns: readonly ConversationTurn[],
  messages: readonly WireMessage[],
): boolean {
  if (turns.at(-1)?.role !== "results") return false;
  const begin = messages.findLastIndex(isPrompt) + 1;
  const first = messages[begin]?.content[0];
  return first !== undefined && !("reasoningContent" in first);
}

function isPrompt({ role, content }: WireMessage): boolean {
  return role === "user" && !content.some((block) => "toolResult" in block);
}
