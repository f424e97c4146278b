import { asObject, type JsonObject, parseJson } from "../../platform/text/json.ts";
import { asNonEmptyText } from "../json.ts";

// Marks a call of a client tool that a vendor's tool made, or that belongs to a set of the vendor's. The vendor requires
// the mark back. It is stored as the call's token.

/** Returns an empty text for a call that the model made itself. */
export function formatCallerToken(start: JsonObject): string {
  const caller = asObject(start["caller"]);
  const set = asNonEmptyText(start["toolset_name"]);
  const hasToolset = caller !== undefined && caller["type"] !== "direct";
  if (!hasToolset && set === undefined) return "";
  return JSON.stringify({ ...(hasToolset && { caller }), ...(set !== undefined && { toolset_name: set }) });
}

/** Parses the token for a request. Returns nothing for a token of another format. */
export function parseCallerToken(signature: string | undefined): JsonObject {
  const token = asObject(parseJson(signature ?? ""));
  const caller = asObject(token?.["caller"]);
  const set = asNonEmptyText(token?.["toolset_name"]);
  return { ...(caller !== undefined && { caller }), ...(set !== undefined && { toolset_name: set }) };
}
