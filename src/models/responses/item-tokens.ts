import { asList, asObject, type JsonObject, parseJson } from "../../platform/text/json.ts";
import { asNonEmptyText } from "../json.ts";

// Data that the API sends with texts, thinking and calls and requires back: stored as JSON in their `signature`, with the
// item's `type` in it. A signature of another format belongs to another protocol.

type ItemType = "message" | "reasoning" | "function_call";

function parseToken(type: ItemType, signature: string | undefined): JsonObject | undefined {
  if (signature === undefined) return undefined;
  const token = asObject(parseJson(signature));
  return token?.["type"] === type ? token : undefined;
}

/** Picks the fields of `item` that are present and not empty. */
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

/** @param withId - False if other items may not refer to this one. */
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
      id: asNonEmptyText(token["id"]),
      phase: asNonEmptyText(token["phase"]),
      annotations: asList(token["annotations"]),
    }
  );
}

/** `namespace` and `caller` tell where a call belongs, if the vendor found its tool or its program made it. */
export function formatCallToken(item: JsonObject, withId: boolean): string | undefined {
  const fields = ["namespace", "caller"];
  return formatToken("function_call", pickFilled(item, withId ? ["id", ...fields] : fields));
}

export function parseCallToken(signature: string | undefined): JsonObject {
  const { type: _type, ...token } = parseToken("function_call", signature) ?? {};
  return token;
}

/**
 * Stores the whole item if it can be read without data stored at the vendor (there is none: `store` is false): encrypted,
 * or with its text.
 */
export function formatReasoningToken(item: JsonObject): string | undefined {
  return hasReasoning(item) ? JSON.stringify(item) : undefined;
}

export function hasReasoning(item: JsonObject): boolean {
  const texts = asList(item["content"]).some(
    (part) => asNonEmptyText(asObject(part)?.["text"]) !== undefined,
  );
  return texts || asNonEmptyText(item["encrypted_content"]) !== undefined;
}

export function parseReasoningItem(signature: string | undefined): JsonObject | undefined {
  return parseToken("reasoning", signature);
}
