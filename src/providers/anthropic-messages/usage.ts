import type { Usage } from "../../schema/message.ts";
import { countOf, type JsonObject, objectOf } from "../json.ts";

/** The counters as the vendor names them, the latest value of each. */
export type Counters = Readonly<Record<string, number>>;

const NAMES = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];

/** Each report is cumulative and may leave out what did not change: present replaces, never adds. */
export function readCounters(before: Counters, usage: JsonObject | undefined): Counters {
  const counters: Record<string, number> = { ...before };
  for (const name of NAMES) {
    const count = countOf(usage?.[name]);
    if (count !== undefined) counters[name] = count;
  }
  const written = writtenIn(objectOf(usage?.["cache_creation"]));
  if (written !== undefined && usage?.["cache_creation_input_tokens"] === undefined)
    counters["cache_creation_input_tokens"] = written;
  const thinking = countOf(objectOf(usage?.["output_tokens_details"])?.["thinking_tokens"]);
  if (thinking !== undefined) counters["thinking_tokens"] = thinking;
  return counters;
}

/** What went into the cache by how long it stays there, where only that is said. */
function writtenIn(details: JsonObject | undefined): number | undefined {
  if (details === undefined) return undefined;
  const kinds = [details["ephemeral_5m_input_tokens"], details["ephemeral_1h_input_tokens"]].map(countOf);
  return kinds.some((count) => count !== undefined)
    ? kinds.reduce<number>((sum, count) => sum + (count ?? 0), 0)
    : undefined;
}

export function usageOf(counters: Counters): Usage {
  const input = counters["input_tokens"] ?? 0;
  const output = counters["output_tokens"] ?? 0;
  const cacheRead = counters["cache_read_input_tokens"] ?? 0;
  const cacheWrite = counters["cache_creation_input_tokens"] ?? 0;
  const reasoning = Math.min(counters["thinking_tokens"] ?? 0, output);
  return {
    input,
    output,
    reasoning,
    cacheRead,
    cacheWrite,
    totalTokens: input + output + cacheRead + cacheWrite,
  };
}
