import { asObject, asText, type JsonObject, parseJson } from "../json.ts";

// A call of one of our tools that a tool of the vendor's made, or that belongs to a set of the vendor's: it wants to be
// told so again. Kept as the call's token.

/** Empty for a call that the model made itself. */
export function formatCallerToken(start: JsonObject): string {
  const caller = asObject(start["caller"]);
  const set = asText(start["toolset_name"]);
  const hasToolset = caller !== undefined && caller["type"] !== "direct";
  if (!hasToolset && set === undefined) return "";
  return JSON.stringify({ ...(hasToolset && { caller }), ...(set !== undefined && { toolset_name: set }) });
}

/** For the way back; nothing for a token of another form. */
export function parseCallerToken(signature: string | undefined): JsonObject {
  const token = asObject(parseJson(signature ?? ""));
  const caller = asObject(token?.["caller"]);
  const set = asText(token?.["toolset_name"]);
  return { ...(caller !== undefined && { caller }), ...(set !== undefined && { toolset_name: set }) };
}
