import type { JsonObject } from "../../platform/text/json.ts";
import type { Usage } from "../../schema/message.ts";
import { asCount, asNonEmptyText } from "../json.ts";

/** The counters by the vendor's names, with the latest value of each. */
export type Counters = Readonly<Record<string, number>>;

const COUNTER_NAMES = [
  "promptTokenCount",
  "toolUsePromptTokenCount",
  "cachedContentTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "totalTokenCount",
];

/** Reads a report. Any event may have one, each is cumulative, and zeros are omitted: present values replace, never add. */
export function readCounters(before: Counters, usage: JsonObject): Counters {
  const counters: Record<string, number> = { ...before };
  for (const name of COUNTER_NAMES) {
    const count = asCount(usage[name]);
    if (count !== undefined) counters[name] = count;
  }
  return counters;
}

/** Converts the counters. The vendor's prompt count includes cached tokens, and its answer count excludes thinking. */
export function toUsage(counters: Counters): Usage {
  const prompt = (counters["promptTokenCount"] ?? 0) + (counters["toolUsePromptTokenCount"] ?? 0);
  const answer = counters["candidatesTokenCount"] ?? 0;
  const thoughts = counters["thoughtsTokenCount"] ?? 0;
  const total = counters["totalTokenCount"];
  // Some servers count thinking as part of the answer. The total shows it.
  const within = thoughts > 0 && thoughts <= answer && total === prompt + answer;
  const output = within ? answer : answer + thoughts;
  const cacheRead = Math.min(counters["cachedContentTokenCount"] ?? 0, prompt);
  return {
    input: prompt - cacheRead,
    output,
    reasoning: thoughts,
    cacheRead,
    cacheWrite: 0,
    totalTokens: total ?? prompt + output,
  };
}

const DEFAULT_TIERS = new Set(["standard", "unspecified", "on_demand", "traffic_type_unspecified"]);

/** Finds the tier of the answer: Gemini's `serviceTier`, or Vertex's `trafficType` with the same values. */
export function findTier(usage: JsonObject): string | undefined {
  const tier = (asNonEmptyText(usage["serviceTier"]) ?? asNonEmptyText(usage["trafficType"]))?.toLowerCase();
  return tier === undefined || DEFAULT_TIERS.has(tier) ? undefined : tier.replace(/^on_demand_/, "");
}
