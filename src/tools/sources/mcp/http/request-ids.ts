import { asNumber, asObject } from "../json.ts";

/** Ids of the requests in a body that is about to be sent: those that an answer is awaited for. */
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
