import { numberOf, objectOf } from "../json.ts";

/** Ids of the requests in a body that is about to be sent: those that an answer is awaited for. */
export function requestIdsIn(body: unknown): readonly number[] {
  if (typeof body !== "string" || !body.startsWith("{")) return [];
  try {
    const message = objectOf(JSON.parse(body));
    const id = numberOf(message?.["id"]);
    return message?.["method"] === undefined || id === undefined ? [] : [id];
  } catch {
    return [];
  }
}
