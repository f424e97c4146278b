import { assertNever } from "../../platform/text/assert-never.ts";
import { asObject } from "../../platform/text/json.ts";
import type { AssistantPart, CallIdRule, ConversationTurn, Part } from "../conversation.ts";
import { asNonEmptyText } from "../json.ts";
import { parseCallToken, parseMessageToken, parseReasoningItem } from "./item-tokens.ts";
import type { WireCall, WireItem, WireMessage, WireOutputText, WirePart } from "./wire.ts";

/** The API's own limit for the id of a call. */
const MAX_ID_CHARS = 64;

const isValidId = (id: string) => id.length <= MAX_ID_CHARS && /^[a-zA-Z0-9_-]+$/.test(id);

const VENDOR_IDS: CallIdRule = {
  isValid: isValidId,
  toValid: (id, attempt) => {
    const clean = id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
    const suffix = attempt === 0 ? "" : `_${attempt + 1}`;
    return clean.slice(0, MAX_ID_CHARS - suffix.length) + suffix;
  },
};

/** Other vendors get their own ids unchanged: some hide data in them. */
const OTHER_IDS: CallIdRule = { ...VENDOR_IDS, isValid: (id, own) => (own ? id !== "" : isValidId(id)) };

export function selectIdRule(provider: string): CallIdRule {
  return /^(?:openai|azure)/.test(provider) ? VENDOR_IDS : OTHER_IDS;
}

/** Converts a conversation to the list of items that the API accepts as `input` (PROV-17). */
export function toInputItems(turns: readonly ConversationTurn[]): readonly WireItem[] {
  const items: WireItem[] = [];
  for (const turn of turns) {
    switch (turn.role) {
      case "user":
        items.push({ role: "user", content: turn.parts.map(toWirePart) });
        break;
      case "assistant":
        items.push(...toAssistantItems(turn.parts, turn.isSameProvider, items.length));
        break;
      case "results":
        items.push(
          ...turn.results.map(({ callId, parts }) => ({
            type: "function_call_output" as const,
            call_id: callId,
            output: toOutput(parts),
          })),
        );
        break;
      default:
        assertNever(turn);
    }
  }
  return items;
}

function toWirePart(part: Part): WirePart {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image":
      return {
        type: "input_image",
        detail: "auto",
        image_url: `data:${part.mimeType};base64,${part.data}`,
      };
    case "file":
      return {
        type: "input_file",
        filename: part.name,
        file_data: `data:${part.mimeType};base64,${part.data}`,
      };
  }
}

/** Returns a plain string if possible. */
function toOutput(parts: readonly Part[]): string | readonly WirePart[] {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === parts.length ? texts.join("\n") : parts.map(toWirePart);
}

/** @param before - The number of preceding items, from which the ids of messages without one are derived. */
function toAssistantItems(
  parts: readonly AssistantPart[],
  isSameProvider: boolean,
  before: number,
): readonly WireItem[] {
  const items: WireItem[] = [];
  // Items refer to the preceding reasoning by id: without it they are sent without ids.
  const keepsIds =
    isSameProvider && parts.every((part) => part.type !== "thinking" || parseReasoningItem(part.signature));
  const freeId = () => `msg_${before + items.length}`;
  for (const part of parts) {
    switch (part.type) {
      case "text":
        addText(items, part.text, isSameProvider ? part.signature : undefined, keepsIds, freeId());
        break;
      case "thinking": {
        const item = isSameProvider ? parseReasoningItem(part.signature) : undefined;
        if (item !== undefined) items.push(item);
        else if (part.thinking.trim() !== "")
          addText(items, `[Reasoning] ${part.thinking}`, undefined, false, freeId());
        break;
      }
      case "call": {
        const { id, ...token } = parseCallToken(part.signature);
        items.push({
          type: "function_call",
          ...(keepsIds && id !== undefined && { id }),
          call_id: part.id,
          name: part.name,
          arguments: JSON.stringify(part.input),
          ...token,
        } as WireCall);
        break;
      }
      case "vendor": {
        const item = asObject(part.data);
        if (asNonEmptyText(item?.["type"]) !== undefined) items.push(item as WireItem);
        break;
      }
      default:
        assertNever(part);
    }
  }
  // The API rejects reasoning that nothing follows, as in an answer that was cut off.
  while (isReasoning(items.at(-1))) items.pop();
  return items;
}

function isReasoning(item: WireItem | undefined): boolean {
  return item !== undefined && "type" in item && item.type === "reasoning";
}

/** Adds a text to the message that it belonged to, or as a new message. */
function addText(
  items: WireItem[],
  text: string,
  signature: string | undefined,
  keepsIds: boolean,
  freeId: string,
): void {
  const token = parseMessageToken(signature);
  const id = keepsIds ? token?.id : undefined;
  const part: WireOutputText = { type: "output_text", text, annotations: token?.annotations ?? [] };
  const last = items.at(-1) as WireMessage | undefined;
  if (id !== undefined && last?.type === "message" && last.id === id) {
    items[items.length - 1] = { ...last, content: [...last.content, part] };
    return;
  }
  const phase = token?.phase;
  items.push({
    type: "message",
    id: id ?? freeId,
    role: "assistant",
    status: "completed",
    content: [part],
    ...(phase !== undefined && { phase }),
  });
}
