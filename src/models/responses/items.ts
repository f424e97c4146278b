import { assertNever } from "../../platform/text/assert-never.ts";
import type { AssistantPart, IdRule, Part, Turn } from "../conversation.ts";
import { objectOf, textOf } from "../json.ts";
import { callToken, messageToken, reasoningItem } from "./tokens.ts";
import type { WireCall, WireItem, WireMessage, WirePart, WireSaid } from "./wire.ts";

/** The API's own limit for the id of a call. */
const MAX_ID_CHARS = 64;

const fits = (id: string) => id.length <= MAX_ID_CHARS && /^[a-zA-Z0-9_-]+$/.test(id);

const VENDOR_IDS: IdRule = {
  fits,
  fit: (id, attempt) => {
    const clean = id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
    const suffix = attempt === 0 ? "" : `_${attempt + 1}`;
    return clean.slice(0, MAX_ID_CHARS - suffix.length) + suffix;
  },
};

/** Others get what they made themselves as it was: some hide something in it. */
const OTHER_IDS: IdRule = { ...VENDOR_IDS, fits: (id, own) => (own ? id !== "" : fits(id)) };

export function idRuleOf(provider: string): IdRule {
  return /^(?:openai|azure)/.test(provider) ? VENDOR_IDS : OTHER_IDS;
}

/** A conversation as the list of items that the API takes for `input` (PROV-17). */
export function inputItems(turns: readonly Turn[]): readonly WireItem[] {
  const items: WireItem[] = [];
  for (const turn of turns) {
    switch (turn.role) {
      case "user":
        items.push({ role: "user", content: turn.parts.map(wirePart) });
        break;
      case "assistant":
        items.push(...assistantItems(turn.parts, turn.own, items.length));
        break;
      case "results":
        items.push(
          ...turn.results.map(({ callId, parts }) => ({
            type: "function_call_output" as const,
            call_id: callId,
            output: outputOf(parts),
          })),
        );
        break;
      default:
        assertNever(turn);
    }
  }
  return items;
}

function wirePart(part: Part): WirePart {
  return part.type === "text"
    ? { type: "input_text", text: part.text }
    : { type: "input_image", detail: "auto", image_url: `data:${part.mimeType};base64,${part.data}` };
}

/** A plain string where it can be one. */
function outputOf(parts: readonly Part[]): string | readonly WirePart[] {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === parts.length ? texts.join("\n") : parts.map(wirePart);
}

/** @param before - How many items go before, which makes the ids of messages that have none. */
function assistantItems(parts: readonly AssistantPart[], own: boolean, before: number): readonly WireItem[] {
  const items: WireItem[] = [];
  // Items refer to the reasoning before them by their ids: without it they go without.
  const keepsIds = own && parts.every((part) => part.type !== "thinking" || reasoningItem(part.signature));
  const freeId = () => `msg_${before + items.length}`;
  for (const part of parts) {
    switch (part.type) {
      case "text":
        say(items, part.text, own ? part.signature : undefined, keepsIds, freeId());
        break;
      case "thinking": {
        const item = own ? reasoningItem(part.signature) : undefined;
        if (item !== undefined) items.push(item);
        else if (part.thinking.trim() !== "")
          say(items, `[Reasoning] ${part.thinking}`, undefined, false, freeId());
        break;
      }
      case "call": {
        const { id, ...token } = callToken(part.signature);
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
        const item = objectOf(part.data);
        if (textOf(item?.["type"]) !== undefined) items.push(item as WireItem);
        break;
      }
      default:
        assertNever(part);
    }
  }
  // The API refuses reasoning that nothing came of, as in an answer that was cut off.
  while (isReasoning(items.at(-1))) items.pop();
  return items;
}

function isReasoning(item: WireItem | undefined): boolean {
  return item !== undefined && "type" in item && item.type === "reasoning";
}

/** Adds a text to the message that it was a part of, or as a message of its own. */
function say(
  items: WireItem[],
  text: string,
  signature: string | undefined,
  keepsIds: boolean,
  freeId: string,
): void {
  const token = messageToken(signature);
  const id = keepsIds ? token?.id : undefined;
  const part: WireSaid = { type: "output_text", text, annotations: token?.annotations ?? [] };
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
