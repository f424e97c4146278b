import { nearestName } from "../core/nearest-name.ts";
import { ModelConfig } from "../schema/model.ts";

/** What may differ from a factory's choice. Everything else comes from the vendor. */
export type ModelOptions = Partial<
  Pick<
    ModelConfig,
    | "name"
    | "baseUrl"
    | "apiKey"
    | "contextWindow"
    | "maxTokens"
    | "cost"
    | "headers"
    | "compat"
    | "reasoning"
  >
>;

/** A model's name as people write it does not say what it must. */
export class ModelNameError extends Error {
  override readonly name = "ModelNameError";
}

/** The reference to a key, resolved at the moment of use. */
function fromEnvironment(name: string): string {
  return `\${${name}}`;
}

/** A proxy in front of the vendor, named as the vendors' own SDKs name it. */
function elsewhere(variable: string, vendor: string): string {
  return process.env[variable] || vendor;
}

export function anthropic(id: string, options: ModelOptions = {}): ModelConfig {
  return ModelConfig.parse({
    id,
    api: "anthropic_messages",
    provider: "anthropic",
    baseUrl: elsewhere("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    apiKey: fromEnvironment("ANTHROPIC_API_KEY"),
    reasoning: true,
    contextWindow: 200_000,
    ...options,
  });
}

export function openai(id: string, options: ModelOptions = {}): ModelConfig {
  return ModelConfig.parse({
    id,
    api: "openai_completions",
    provider: "openai",
    baseUrl: elsewhere("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    apiKey: fromEnvironment("OPENAI_API_KEY"),
    reasoning: /^(?:o\d|gpt-[5-9])/.test(id),
    contextWindow: 128_000,
    ...options,
  });
}

export function openrouter(id: string, options: ModelOptions = {}): ModelConfig {
  return ModelConfig.parse({
    id,
    api: "openai_completions",
    provider: "openrouter",
    baseUrl: "https://openrouter.ai/api/v1",
    apiKey: fromEnvironment("OPENROUTER_API_KEY"),
    contextWindow: 200_000,
    ...options,
  });
}

/**
 * Amazon Bedrock, in the region that is named here. With the bearer key or the credentials that are named here, else with
 * those of the machine that the worker runs on.
 */
export function bedrock(id: string, options: ModelOptions = {}): ModelConfig {
  const region = process.env["AWS_REGION"] || process.env["AWS_DEFAULT_REGION"] || "us-east-1";
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const key = ["AWS_BEARER_TOKEN_BEDROCK", "AWS_BEDROCK_CREDENTIALS"].find((name) => process.env[name]);
  return ModelConfig.parse({
    id,
    api: "bedrock_converse_stream",
    provider: "bedrock",
    baseUrl: elsewhere("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", `https://bedrock-runtime.${region}.${domain}`),
    ...(key !== undefined && { apiKey: fromEnvironment(key) }),
    reasoning: /claude-(?:3-7|(?:opus|sonnet|haiku|fable|mythos)-)|amazon\.nova-2-|openai\./.test(id),
    contextWindow: 200_000,
    ...options,
  });
}

/** Any server that speaks chat completions: llama.cpp, Ollama, vLLM, LM Studio, … Without a key unless given one. */
export function local(url: string, id: string, options: ModelOptions = {}): ModelConfig {
  return ModelConfig.parse({
    id,
    api: "openai_completions",
    provider: "local",
    baseUrl: url,
    contextWindow: 128_000,
    ...options,
  });
}

const FACTORIES = {
  anthropic,
  openai,
  openrouter,
  bedrock,
  local: (rest: string, options: ModelOptions) => {
    const at = rest.search(/@https?:\/\//);
    const id = at < 0 ? rest : rest.slice(0, at);
    const url = options.baseUrl ?? (at < 0 ? undefined : rest.slice(at + 1));
    if (url === undefined || id === "") {
      throw new ModelNameError(
        `Say where the model is served, as local/${id || "ID"}@http://127.0.0.1:8080/v1`,
      );
    }
    return local(withoutSlash(url), id, options);
  },
} as const satisfies Record<string, (id: string, options: ModelOptions) => ModelConfig>;

/** `anthropic/ID`, `openai/ID`, `openrouter/VENDOR/ID`, `bedrock/ID`, `local/ID@http://HOST:PORT/v1`. */
export function parseModel(name: string, options: ModelOptions = {}): ModelConfig {
  const slash = name.indexOf("/");
  const provider = slash < 0 ? name : name.slice(0, slash);
  const known = Object.keys(FACTORIES);
  if (!Object.hasOwn(FACTORIES, provider)) {
    const meant = nearestName(provider, known);
    const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
    throw new ModelNameError(
      `Unknown provider "${provider}" in model "${name}".${hint} Known: ${known.join(", ")}.`,
    );
  }
  const id = slash < 0 ? "" : name.slice(slash + 1).trim();
  if (id === "")
    throw new ModelNameError(`Model "${name}" names a provider but no model, as ${provider}/ID does`);
  return FACTORIES[provider as keyof typeof FACTORIES](id, options);
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
