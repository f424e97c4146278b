import { asList, asObject, type JsonObject } from "../../platform/text/json.ts";
import { asNonEmptyText } from "../json.ts";
import { parseDurationMs } from "./parse-time.ts";

/** `Please try again in 6.27s` (OpenAI), `retry after 26 seconds` (Azure), `retry in 34.4s` (Google). */
const RETRY_SENTENCE =
  /\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|[smh]))+|\d+(?:\.\d+)? (?:second|minute)s?)\b/i;

/** The part of a message that is read; a longer one is not such a sentence. */
const MAX_READ_CHARS = 4096;

/** Returns the delay in the body of a rejection, in milliseconds: Google's `RetryInfo`, or the vendor's sentence. */
export function parseRetryHintMs(error: JsonObject): number | undefined {
  for (const detail of asList(error["details"])) {
    const one = asObject(detail);
    if (!(asNonEmptyText(one?.["@type"]) ?? "").endsWith("google.rpc.RetryInfo")) continue;
    const delay = parseDurationMs(asNonEmptyText(one?.["retryDelay"]) ?? "");
    if (delay !== undefined) return delay;
  }
  const [, delay] =
    RETRY_SENTENCE.exec((asNonEmptyText(error["message"]) ?? "").slice(0, MAX_READ_CHARS)) ?? [];
  return delay === undefined ? undefined : parseDurationMs(delay.toLowerCase().replace(/ ([sm]).*$/, "$1"));
}
