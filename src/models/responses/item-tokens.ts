import { asList, asObject, asText, type JsonObject, parseJson } from "../json.ts";

// What the API gives beside texts, thinking and calls, and wants back: kept as JSON in their `signature`, with the
// item's `type` in it. A signature of another form is another protocol's.

type ItemType = "message" | "reasoning" | "function_call";

function parseToken(type: ItemType, signature: string | undefined): JsonObject | undefined {
  if (signature === undefined) return undefined;
  const token = asObject(parseJson(signature));
  return token?.["type"] === type ? token : undefined;
}

/** Fields of `item` that are there and hold something. */
function pickFilled(item: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = item[name];
      return value === undefined || value === null || value === "" ? [] : [[name, value]];
    }),
  );
}

function formatToken(type: ItemType, fields: JsonObject): string | undefined {
  return Object.keys(fields).length === 0 ? undefined : JSON.stringify({ type, ...fields });
}

/** @param withId - False where the item may not be referred to. */
export function formatMessageToken(
  item: JsonObject,
  annotations: readonly unknown[],
  withId: boolean,
): string | undefined {
  const fields = pickFilled(item, withId ? ["id", "phase"] : ["phase"]);
  return formatToken("message", { ...fields, ...(annotations.length > 0 && { annotations }) });
}

export type MessageToken = {
  readonly id: string | undefined;
  readonly phase: string | undefined;
  readonly annotations: readonly unknown[];
};

export function parseMessageToken(signature: string | undefined): MessageToken | undefined {
  const token = parseToken("message", signature);
  return (
    token && {
      id: asText(token["id"]),
      phase: asText(token["phase"]),
      annotations: asList(token["annotations"]),
    }
  );
}

/** `namespace` and `caller` say where a call belongs, with tools that the vendor has found or a program of its own. */
export function formatCallToken(item: JsonObject, withId: boolean): string | undefined {
  const fields = ["namespace", "caller"];
  return formatToken("function_call", pickFilled(item, withId ? ["id", ...fields] : fields));
}

export function parseCallToken(signature: string | undefined): JsonObject {
  const { type: _type, ...token } = parseToken("function_call", signature) ?? {};
  return token;
}

/**
 * The whole item, when it can be understood without what the vendor has stored (nothing: `store` is false): encrypted,
 * or with its text.
 */
export function formatReasoningToken(item: JsonObject): string | undefined {
  return hasReasoning(item) ? JSON.stringify(item) : undefined;
}

export function hasReasoning(item: JsonObject): boolean {
  const texts = asList(item["content"]).some((part) => asText(asObject(part)?.["text"]) !== undefined);
  return texts || asText(item["encrypted_content"]) !== undefined;
}

export function parseReasoningItem(signature: string | undefined): JsonObject | undefined {
  return parseToken("reasoning", signature);
}
