import type { Usage } from "../../schema/message.ts";
import { asCount, asText, type JsonObject } from "../json.ts";

/** The counters as the vendor names them, the latest value of each. */
export type Counters = Readonly<Record<string, number>>;

const COUNTER_NAMES = [
  "promptTokenCount",
  "toolUsePromptTokenCount",
  "cachedContentTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "totalTokenCount",
];

/** Any event may report, each report is cumulative, and zero is left out: present replaces, never adds. */
export function readCounters(before: Counters, usage: JsonObject): Counters {
  const counters: Record<string, number> = { ...before };
  for (const name of COUNTER_NAMES) {
    const count = asCount(usage[name]);
    if (count !== undefined) counters[name] = count;
  }
  return counters;
}

/** Here the prompt's count includes what was cached, and thoughts stand beside the answer's; ours is the other way round. */
export function toUsage(counters: Counters): Usage {
  const prompt = (counters["promptTokenCount"] ?? 0) + (counters["toolUsePromptTokenCount"] ?? 0);
  const answer = counters["candidatesTokenCount"] ?? 0;
  const thoughts = counters["thoughtsTokenCount"] ?? 0;
  const total = counters["totalTokenCount"];
  // Some servers count thoughts within the answer. The total tells.
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

/** The tier that the answer was served at: Gemini's `serviceTier`, or Vertex's `trafficType` in the same words. */
export function findTier(usage: JsonObject): string | undefined {
  const tier = (asText(usage["serviceTier"]) ?? asText(usage["trafficType"]))?.toLowerCase();
  return tier === undefined || DEFAULT_TIERS.has(tier) ? undefined : tier.replace(/^on_demand_/, "");
}
