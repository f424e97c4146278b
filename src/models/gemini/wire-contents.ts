import { assertNever } from "../../platform/text/assert-never.ts";
import { asObject, type JsonObject } from "../../platform/text/json.ts";
import type {
  AssistantPart,
  CallIdRule,
  CallPart,
  ConversationTurn,
  Part,
  ResultPart,
} from "../conversation.ts";
import type { GeminiModel } from "./gemini-model.ts";
import type { WireContent, WirePart, WireResponse } from "./wire.ts";

/** The vendor's own token for a call without a signature because another model made it. */
const UNSIGNED_CALL_TOKEN = "skip_thought_signature_validator";

/** A signature in this vendor's format: bytes in base64. Anything else comes from another vendor. */
const SIGNATURE = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Ids that Holdfast generated because the vendor sent none (PROV-21, PROV-22). They are not sent. */
const GENERATED_ID = /^(?:google|vertex)-fc-\d+(?:_\d+)?$/;

const IMAGE_NOTE = "(see the attached image)";
const FILE_NOTE = "(see the attached file)";

/** The API requires no format; the ids are unique for Holdfast's own use. */
export const GEMINI_IDS: CallIdRule = {
  isValid: (id) => id !== "",
  toValid: (id, attempt) => `${id || "call"}_${attempt + 2}`,
};

export function toWireContents(
  turns: readonly ConversationTurn[],
  model: GeminiModel,
): readonly WireContent[] {
  return turns
    .flatMap((turn, at): WireContent[] => {
      switch (turn.role) {
        case "user":
          return [{ role: "user", parts: turn.parts.map(toWirePart) }];
        case "assistant":
          return [{ role: "model", parts: toModelParts(turn, model) }];
        case "results":
          return toResultContents(turn.results, turns[at - 1], model);
        default:
          return assertNever(turn);
      }
    })
    .filter(({ parts }) => parts.length > 0);
}

function toWirePart(part: Part): WirePart {
  return part.type === "text"
    ? { text: part.text }
    : { inlineData: { mimeType: part.mimeType, data: part.data } };
}

function toModelParts(
  { parts, isSameProvider, hasOwnIds }: Extract<ConversationTurn, { role: "assistant" }>,
  { signsParts }: GeminiModel,
): readonly (WirePart | JsonObject)[] {
  // Of several parallel calls the first one has the signature.
  const first = parts.find((part) => part.type === "call");
  return parts.flatMap((part): (WirePart | JsonObject)[] => {
    const signature = isSameProvider ? findSignature(part) : undefined;
    const signed = signature !== undefined && { thoughtSignature: signature };
    switch (part.type) {
      case "text":
        return part.text.trim() === "" && !signed ? [] : [{ text: part.text, ...signed }];
      case "thinking":
        // Thinking of other vendors is dropped: as text it would read like something that the model said (XLAT-03).
        if (
          !isSameProvider ||
          (part.signature ?? "") !== (signature ?? "") ||
          (part.thinking === "" && !signed)
        )
          return [];
        return [{ text: part.thinking, thought: true, ...signed }];
      case "call": {
        const { name, input: args } = part;
        const bare = part === first && signsParts && !signed;
        return [
          {
            functionCall: { ...toWireId(part, hasOwnIds), name, args },
            ...(bare ? { thoughtSignature: UNSIGNED_CALL_TOKEN } : signed),
          },
        ];
      }
      case "vendor": {
        const data = isSameProvider ? asObject(part.data) : undefined;
        return data === undefined ? [] : [data];
      }
      default:
        return assertNever(part);
    }
  });
}

function findSignature(part: AssistantPart): string | undefined {
  const signature = part.type === "vendor" ? undefined : part.signature;
  return signature !== undefined && SIGNATURE.test(signature) ? signature : undefined;
}

/** Only an id from the vendor is meaningful to it. */
function toWireId({ id }: Pick<CallPart, "id">, hasOwnIds: boolean): { readonly id?: string } {
  return hasOwnIds && !GENERATED_ID.test(id) ? { id } : {};
}

/** Orders the results like the calls: without ids, the order assigns results to calls. */
function toResultContents(
  results: readonly ResultPart[],
  askingTurn: ConversationTurn | undefined,
  { signsParts }: GeminiModel,
): WireContent[] {
  const hasOwnIds = askingTurn?.role === "assistant" && askingTurn.hasOwnIds;
  const order = askingTurn?.role === "assistant" ? askingTurn.parts.flatMap((part) => listIds(part)) : [];
  const sorted = [...results].sort((a, b) => order.indexOf(a.callId) - order.indexOf(b.callId));
  const parts = sorted.map((result) => toWireResponse(result, hasOwnIds, signsParts));
  if (signsParts) return [{ role: "user", parts }];
  // Older models accept only text in a result; its images and files follow in a user message.
  const attachments = sorted.flatMap(({ name, parts: resultParts }): WirePart[] => {
    const found = resultParts.filter((part) => part.type !== "text").map(toWirePart);
    return found.length === 0 ? [] : [{ text: `Attached by ${name}:` }, ...found];
  });
  return [
    { role: "user", parts },
    { role: "user", parts: attachments },
  ];
}

function listIds(part: AssistantPart): readonly string[] {
  return part.type === "call" ? [part.id] : [];
}

function toWireResponse(
  { callId, name, parts, isError }: ResultPart,
  hasOwnIds: boolean,
  within: boolean,
): WireResponse {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const attachments = parts.flatMap((part) =>
    part.type === "text" ? [] : [{ inlineData: { mimeType: part.mimeType, data: part.data } }],
  );
  const note = parts.some((part) => part.type === "file") ? FILE_NOTE : IMAGE_NOTE;
  const text = texts.length === 0 && attachments.length > 0 ? note : texts.join("\n");
  return {
    functionResponse: {
      ...toWireId({ id: callId }, hasOwnIds),
      name,
      response: isError ? { error: text } : { result: text },
      ...(within && attachments.length > 0 && { parts: attachments }),
    },
  };
}
