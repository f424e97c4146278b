import { type JsonObject, listOf, objectOf, textOf } from "../json.ts";
import { durationMs } from "./moments.ts";

/** `Please try again in 6.27s` (OpenAI), `retry after 26 seconds` (Azure), `retry in 34.4s` (Google). */
const IN_WORDS =
  /\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|[smh]))+|\d+(?:\.\d+)? (?:second|minute)s?)\b/i;

/** Of a sentence; what is longer is none. */
const READ_CHARS = 4096;

/** The delay that the body of a refusal asks for, in milliseconds: Google's `RetryInfo`, or the vendor's sentence. */
export function retryHintMs(error: JsonObject): number | undefined {
  for (const detail of listOf(error["details"])) {
    const one = objectOf(detail);
    if (!(textOf(one?.["@type"]) ?? "").endsWith("google.rpc.RetryInfo")) continue;
    const delay = durationMs(textOf(one?.["retryDelay"]) ?? "");
    if (delay !== undefined) return delay;
  }
  const [, delay] = IN_WORDS.exec((textOf(error["message"]) ?? "").slice(0, READ_CHARS)) ?? [];
  return delay === undefined ? undefined : durationMs(delay.toLowerCase().replace(/ ([sm]).*$/, "$1"));
}
