import { type JsonObject, listOf, objectOf, parseJson, textOf } from "../json.ts";

// What the API gives beside texts, thinking and calls, and wants back: kept as JSON in their `signature`, with the
// item's `type` in it. A signature of another form is another protocol's.

type ItemType = "message" | "reasoning" | "function_call";

function tokenOf(type: ItemType, signature: string | undefined): JsonObject | undefined {
  if (signature === undefined) return undefined;
  const token = objectOf(parseJson(signature));
  return token?.["type"] === type ? token : undefined;
}

/** Fields of `item` that are there and hold something. */
function filled(item: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = item[name];
      return value === undefined || value === null || value === "" ? [] : [[name, value]];
    }),
  );
}

function signatureOf(type: ItemType, fields: JsonObject): string | undefined {
  return Object.keys(fields).length === 0 ? undefined : JSON.stringify({ type, ...fields });
}

/** @param withId - False where the item may not be referred to. */
export function messageSignature(
  item: JsonObject,
  annotations: readonly unknown[],
  withId: boolean,
): string | undefined {
  const fields = filled(item, withId ? ["id", "phase"] : ["phase"]);
  return signatureOf("message", { ...fields, ...(annotations.length > 0 && { annotations }) });
}

export type MessageToken = {
  readonly id: string | undefined;
  readonly phase: string | undefined;
  readonly annotations: readonly unknown[];
};

export function messageToken(signature: string | undefined): MessageToken | undefined {
  const token = tokenOf("message", signature);
  return (
    token && {
      id: textOf(token["id"]),
      phase: textOf(token["phase"]),
      annotations: listOf(token["annotations"]),
    }
  );
}

/** `namespace` and `caller` say where a call belongs, with tools that the vendor has found or a program of its own. */
export function callSignature(item: JsonObject, withId: boolean): string | undefined {
  const fields = ["namespace", "caller"];
  return signatureOf("function_call", filled(item, withId ? ["id", ...fields] : fields));
}

export function callToken(signature: string | undefined): JsonObject {
  const { type: _type, ...token } = tokenOf("function_call", signature) ?? {};
  return token;
}

/**
 * The whole item, when it can be understood without what the vendor has stored (nothing: `store` is false): encrypted,
 * or with its text.
 */
export function reasoningSignature(item: JsonObject): string | undefined {
  return holdsReasoning(item) ? JSON.stringify(item) : undefined;
}

export function holdsReasoning(item: JsonObject): boolean {
  const texts = listOf(item["content"]).some((part) => textOf(objectOf(part)?.["text"]) !== undefined);
  return texts || textOf(item["encrypted_content"]) !== undefined;
}

export function reasoningItem(signature: string | undefined): JsonObject | undefined {
  return tokenOf("reasoning", signature);
}
