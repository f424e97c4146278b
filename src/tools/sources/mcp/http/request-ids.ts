import { asNumber, asObject } from "../json.ts";

/** Returns the ids of the requests in a body: the messages that expect an answer. */
export function getRequestIds(body: unknown): readonly number[] {
  if (typeof body !== "string" || !body.startsWith("{")) return [];
  try {
    const message = asObject(JSON.parse(body));
    const id = asNumber(message?.["id"]);
    return message?.["method"] === undefined || id === undefined ? [] : [id];
  } catch {
    return [];
  }
}
