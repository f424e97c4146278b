import { ModelConfig, type Protocol } from "../../schema/model.ts";
import type { Recording } from "./recordings.ts";
import { parseUrl, type Route } from "./route.ts";

/** Vendors whose name affects how chat completions are read. */
const PROVIDERS: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\.)openai\.com$/, "openai"],
  [/(?:^|\.)openrouter\.ai$/, "openrouter"],
  [/(?:^|\.)deepseek\.com$/, "deepseek"],
  [/(?:^|\.)mistral\.ai$/, "mistral"],
  [/(?:^|\.)groq\.com$/, "groq"],
  [/(?:^|\.)x\.ai$/, "xai"],
  [/(?:^|\.)cerebras\.ai$/, "cerebras"],
];

/** The provider ids of the adapters (PROV-04); many vendors serve chat completions. */
const PROTOCOL_PROVIDERS: Record<Protocol, string> = {
  anthropic_messages: "anthropic",
  openai_completions: "local",
  openai_responses: "openai_responses",
  azure_openai_responses: "azure_openai",
  google_generative_ai: "google",
  google_vertex: "google_vertex",
  bedrock_converse_stream: "bedrock",
};

/** A value that every adapter accepts as a key; Bedrock's has two parts. */
export const REPLAY_KEY = "replayed-access:replayed-secret";

/** Builds the configuration of a model at `origin` that answers with a recording. */
export function buildModel(origin: string, recording: Recording, route: Route): ModelConfig {
  const url = parseUrl(recording);
  const knownProvider = PROVIDERS.find(([host]) => host.test(url?.hostname ?? ""))?.[1];
  const version = url?.searchParams.get("api-version");
  return ModelConfig.parse({
    id: route.model ?? "recorded",
    api: route.protocol,
    provider:
      (route.protocol === "openai_completions" ? knownProvider : undefined) ??
      PROTOCOL_PROVIDERS[route.protocol],
    baseUrl: `${origin}${route.prefix}`,
    contextWindow: 1_000_000,
    ...(route.protocol === "azure_openai_responses" && version && { apiVersion: version }),
  });
}
