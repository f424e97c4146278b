import { asFields, asList, asObject, type JsonObject } from "../../platform/text/json.ts";
import type { Usage } from "../../schema/message.ts";
import { asCount } from "../json.ts";

/** The counters by the vendor's names, with the latest value of each. */
export type Counters = Readonly<Record<string, number>>;

const COUNTER_NAMES = [
  "output_tokens",
  "input_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
];

/** Reads a report. Each is cumulative and may omit unchanged counters: present values replace, never add. */
export function readCounters(before: Counters, usage: JsonObject | undefined): Counters {
  const counters: Record<string, number> = { ...before };
  for (const name of COUNTER_NAMES) {
    const count = asCount(usage?.[name]);
    if (count !== undefined) counters[name] = count;
  }
  const written = countCacheWrites(asObject(usage?.["cache_creation"]));
  if (written !== undefined && usage?.["cache_creation_input_tokens"] === undefined)
    counters["cache_creation_input_tokens"] = written;
  const thinking = asCount(asObject(usage?.["output_tokens_details"])?.["thinking_tokens"]);
  if (thinking !== undefined) counters["thinking_tokens"] = thinking;
  return { ...counters, ...sumIterations(usage?.["iterations"]) };
}

/**
 * Sums the vendor's iterations. The totals include those of the model; the usage of a compaction is reported separately
 * and is billed too.
 */
function sumIterations(iterations: unknown): Counters {
  const rounds = asList(iterations).map(asFields);
  if (rounds.length === 0) return {};
  const countIn = (round: JsonObject, name: string) => asCount(round[name]) ?? 0;
  const compactions = rounds.filter(({ type }) => type === "compaction");
  const compactionTokens = COUNTER_NAMES.map((name) => [
    `beside_${name}`,
    compactions.reduce((sum, round) => sum + countIn(round, name), 0),
  ]);
  return Object.fromEntries(compactionTokens);
}

/** Counts cache writes by lifetime, if the vendor reports only those. */
function countCacheWrites(details: JsonObject | undefined): number | undefined {
  if (details === undefined) return undefined;
  const kinds = [details["ephemeral_5m_input_tokens"], details["ephemeral_1h_input_tokens"]].map(asCount);
  return kinds.some((count) => count !== undefined)
    ? kinds.reduce<number>((sum, count) => sum + (count ?? 0), 0)
    : undefined;
}

export function toUsage(counters: Counters): Usage {
  const total = (name: string) => (counters[name] ?? 0) + (counters[`beside_${name}`] ?? 0);
  const input = total("input_tokens");
  const output = total("output_tokens");
  const cacheRead = total("cache_read_input_tokens");
  const cacheWrite = total("cache_creation_input_tokens");
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
