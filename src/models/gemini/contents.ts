import { assertNever } from "../../platform/text/assert-never.ts";
import type { AssistantPart, Call, IdRule, Part, Result, Turn } from "../conversation.ts";
import { type JsonObject, objectOf } from "../json.ts";
import type { GeminiModel } from "./models.ts";
import type { WireContent, WirePart, WireResponse } from "./wire.ts";

/** The vendor's own word for a call that has no signature since another model made it. */
const UNSIGNED_CALL = "skip_thought_signature_validator";

/** A signature as this vendor writes it: bytes in base64. Whatever else stands in its place came from elsewhere. */
const SIGNATURE = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Made by us where the vendor gave none (PROV-21, PROV-22), which it is not told. */
const OUR_ID = /^(?:google|vertex)-fc-\d+(?:_\d+)?$/;

const SEE_IMAGE = "(see the attached image)";

/** The API wants no form; ids are told apart for ourselves. */
export const GEMINI_IDS: IdRule = {
  fits: (id) => id !== "",
  fit: (id, attempt) => `${id || "call"}_${attempt + 2}`,
};

export function wireContents(turns: readonly Turn[], model: GeminiModel): readonly WireContent[] {
  return turns
    .flatMap((turn, at): WireContent[] => {
      switch (turn.role) {
        case "user":
          return [{ role: "user", parts: turn.parts.map(wirePart) }];
        case "assistant":
          return [{ role: "model", parts: modelParts(turn.parts, turn.own, model) }];
        case "results":
          return resultContents(turn.results, turns[at - 1], model);
        default:
          return assertNever(turn);
      }
    })
    .filter(({ parts }) => parts.length > 0);
}

function wirePart(part: Part): WirePart {
  return part.type === "text"
    ? { text: part.text }
    : { inlineData: { mimeType: part.mimeType, data: part.data } };
}

function modelParts(
  parts: readonly AssistantPart[],
  own: boolean,
  { signs }: GeminiModel,
): readonly (WirePart | JsonObject)[] {
  // Of several calls the first is signed.
  const first = parts.find((part) => part.type === "call");
  return parts.flatMap((part): (WirePart | JsonObject)[] => {
    const signature = own ? signatureOf(part) : undefined;
    const signed = signature !== undefined && { thoughtSignature: signature };
    switch (part.type) {
      case "text":
        return part.text.trim() === "" && !signed ? [] : [{ text: part.text, ...signed }];
      case "thinking":
        // What others thought is dropped: as text it would read as something that the model had said (XLAT-03).
        if (!own || (part.signature ?? "") !== (signature ?? "") || (part.thinking === "" && !signed))
          return [];
        return [{ text: part.thinking, thought: true, ...signed }];
      case "call": {
        const { name, input: args } = part;
        const bare = part === first && signs && !signed;
        return [
          {
            functionCall: { ...idOf(part, own), name, args },
            ...(bare ? { thoughtSignature: UNSIGNED_CALL } : signed),
          },
        ];
      }
      case "vendor": {
        const data = own ? objectOf(part.data) : undefined;
        return data === undefined ? [] : [data];
      }
      default:
        return assertNever(part);
    }
  });
}

function signatureOf(part: AssistantPart): string | undefined {
  const signature = part.type === "vendor" ? undefined : part.signature;
  return signature !== undefined && SIGNATURE.test(signature) ? signature : undefined;
}

/** Only an id that the vendor gave means something to it. */
function idOf({ id }: Pick<Call, "id">, own: boolean): { readonly id?: string } {
  return own && !OUR_ID.test(id) ? { id } : {};
}

/** In the order of the calls: without ids it is the order that says which result is whose. */
function resultContents(
  results: readonly Result[],
  asked: Turn | undefined,
  { signs }: GeminiModel,
): WireContent[] {
  const own = asked?.role === "assistant" && asked.own;
  const order = asked?.role === "assistant" ? asked.parts.flatMap((part) => idsIn(part)) : [];
  const sorted = [...results].sort((a, b) => order.indexOf(a.callId) - order.indexOf(b.callId));
  const parts = sorted.map((result) => responsePart(result, own, signs));
  if (signs) return [{ role: "user", parts }];
  // Older models take text only in a result; its images follow as the user's.
  const images = sorted.flatMap(({ name, parts: seen }): WirePart[] => {
    const found = seen.filter((part) => part.type === "image").map(wirePart);
    return found.length === 0 ? [] : [{ text: `Attached by ${name}:` }, ...found];
  });
  return [
    { role: "user", parts },
    { role: "user", parts: images },
  ];
}

function idsIn(part: AssistantPart): readonly string[] {
  return part.type === "call" ? [part.id] : [];
}

function responsePart({ callId, name, parts, isError }: Result, own: boolean, within: boolean): WireResponse {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const images = parts.flatMap((part) =>
    part.type === "image" ? [{ inlineData: { mimeType: part.mimeType, data: part.data } }] : [],
  );
  const said = texts.length === 0 && images.length > 0 ? SEE_IMAGE : texts.join("\n");
  return {
    functionResponse: {
      ...idOf({ id: callId }, own),
      name,
      response: isError ? { error: said } : { result: said },
      ...(within && images.length > 0 && { parts: images }),
    },
  };
}
