import { type JsonObject, objectOf, parseJson, textOf } from "../json.ts";

// A call of one of our tools that a tool of the vendor's made, or that belongs to a set of the vendor's: it wants to be
// told so again. Kept as the call's token.

/** Empty for a call that the model made itself. */
export function calledBy(start: JsonObject): string {
  const caller = objectOf(start["caller"]);
  const set = textOf(start["toolset_name"]);
  const told = caller !== undefined && caller["type"] !== "direct";
  if (!told && set === undefined) return "";
  return JSON.stringify({ ...(told && { caller }), ...(set !== undefined && { toolset_name: set }) });
}

/** For the way back; nothing for a token of another form. */
export function callerIn(signature: string | undefined): JsonObject {
  const token = objectOf(parseJson(signature ?? ""));
  const caller = objectOf(token?.["caller"]);
  const set = textOf(token?.["toolset_name"]);
  return { ...(caller !== undefined && { caller }), ...(set !== undefined && { toolset_name: set }) };
}
