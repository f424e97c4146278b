import type { ModelConfig } from "../../../client/index.ts";
import type { AgentDefinition } from "../../../schema/index.ts";

/** Returns how much a model thinks: OpenAI's models from GPT-5 on as much as wanted, others as they do by default (IRIS-14). */
export function chooseThinking(
  { provider, id }: ModelConfig,
  wanted: "medium" | "low",
): AgentDefinition["thinking"] {
  const version = /^gpt-(\d+)/.exec(id)?.[1];
  return (provider === "openai" || provider === "azure") && Number(version) >= 5 ? wanted : "off";
}
