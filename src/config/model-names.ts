import { nearestName } from "../core/nearest-name.ts";
import { ModelConfig } from "../schema/model.ts";
import type { Catalogue } from "./catalogue/catalogue.ts";
import { knownOf } from "./catalogue/entry.ts";
import { catalogueOf } from "./catalogue/user-file.ts";
import { geminiLimits, vertexPlace } from "./google-place.ts";

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
    | "serviceTier"
    | "apiVersion"
    | "thinkingStyle"
    | "effort"
    | "verbosity"
    | "thinkingBetweenTools"
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

/** Models of OpenAI that think before they answer, unless they are ChatGPT's. */
function reasons(id: string): boolean {
  return /^(?:o\d|gpt-[5-9])/.test(id) && !/-chat(?:-|$)/.test(id);
}

export function openai(
  id: string,
  options: ModelOptions & { readonly api?: "openai_responses" } = {},
): ModelConfig {
  return ModelConfig.parse({
    id,
    api: "openai_completions",
    provider: "openai",
    baseUrl: elsewhere("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    apiKey: fromEnvironment("OPENAI_API_KEY"),
    reasoning: reasons(id),
    contextWindow: 128_000,
    ...options,
  });
}

/** OpenAI's newer protocol: the one in which its models reason and call tools at once. */
export function openaiResponses(id: string, options: ModelOptions = {}): ModelConfig {
  return openai(id, { ...options, api: "openai_responses" });
}

/**
 * A deployment in Azure. Where it is comes from `AZURE_OPENAI_BASE_URL`, `AZURE_OPENAI_ENDPOINT` or
 * `AZURE_OPENAI_RESOURCE_NAME` unless given. With an `authorization` header (Entra ID) it goes without a key.
 */
export function azure(deployment: string, options: ModelOptions = {}): ModelConfig {
  const baseUrl = options.baseUrl ?? azureFromEnvironment();
  if (baseUrl === undefined) {
    throw new ModelNameError(
      `Say where ${deployment} is deployed: as azure/${deployment}@https://RESOURCE.openai.azure.com, or with AZURE_OPENAI_ENDPOINT in the environment`,
    );
  }
  const signedIn = Object.keys(options.headers ?? {}).some((name) => name.toLowerCase() === "authorization");
  return ModelConfig.parse({
    id: deployment,
    api: "azure_openai_responses",
    provider: "azure",
    ...(!signedIn && { apiKey: fromEnvironment("AZURE_OPENAI_API_KEY") }),
    reasoning: reasons(deployment),
    contextWindow: 128_000,
    ...options,
    baseUrl: withoutSlash(baseUrl),
  });
}

function azureFromEnvironment(): string | undefined {
  const { AZURE_OPENAI_BASE_URL, AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_RESOURCE_NAME } = process.env;
  const resource = AZURE_OPENAI_RESOURCE_NAME && `https://${AZURE_OPENAI_RESOURCE_NAME}.openai.azure.com`;
  return AZURE_OPENAI_BASE_URL || AZURE_OPENAI_ENDPOINT || resource || undefined;
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

export function google(id: string, options: ModelOptions = {}): ModelConfig {
  return ModelConfig.parse({
    id,
    api: "google_generative_ai",
    provider: "google",
    baseUrl: elsewhere("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
    apiKey: fromEnvironment(
      process.env["GEMINI_API_KEY"] || !process.env["GOOGLE_API_KEY"] ? "GEMINI_API_KEY" : "GOOGLE_API_KEY",
    ),
    reasoning: true,
    ...geminiLimits(id),
    ...options,
  });
}

/**
 * Gemini on Google Cloud, in the project and at the location that the environment names. Without a key the worker's
 * own credentials are used; an API key needs no project.
 */
export function vertex(id: string, options: ModelOptions = {}): ModelConfig {
  const baseUrl = options.baseUrl ?? vertexPlace(process.env, options.apiKey !== undefined);
  if (baseUrl === undefined) {
    throw new ModelNameError(
      "Say which project of Google Cloud pays: set GOOGLE_CLOUD_PROJECT (and GOOGLE_CLOUD_LOCATION, global unless said), or a base URL",
    );
  }
  return ModelConfig.parse({
    id,
    api: "google_vertex",
    provider: "vertex",
    reasoning: true,
    ...geminiLimits(id),
    ...options,
    baseUrl: withoutSlash(baseUrl),
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
  "openai-responses": openaiResponses,
  azure: (rest: string, options: ModelOptions) => {
    const { id, url } = withAddress(rest);
    const baseUrl = options.baseUrl ?? url;
    return azure(id, { ...options, ...(baseUrl !== undefined && { baseUrl }) });
  },
  openrouter,
  google,
  vertex,
  bedrock,
  local: (rest: string, options: ModelOptions) => {
    const { id, url: said } = withAddress(rest);
    const url = options.baseUrl ?? said;
    if (url === undefined || id === "") {
      throw new ModelNameError(
        `Say where the model is served, as local/${id || "ID"}@http://127.0.0.1:8080/v1`,
      );
    }
    return local(withoutSlash(url), id, options);
  },
} as const satisfies Record<string, (id: string, options: ModelOptions) => ModelConfig>;

/** `ID@http://HOST` to its parts. */
function withAddress(rest: string): { readonly id: string; readonly url: string | undefined } {
  const at = rest.search(/@https?:\/\//);
  return at < 0 ? { id: rest, url: undefined } : { id: rest.slice(0, at), url: rest.slice(at + 1) };
}

/**
 * `anthropic/ID`, `openai/ID`, `openai-responses/ID`, `azure/DEPLOYMENT`, `openrouter/VENDOR/ID`, `google/ID`, `vertex/ID`,
 * `bedrock/ID`, `local/ID@http://HOST:PORT/v1`. What the options do not say comes from the catalogue, and of a model that it
 * does not know from the factory of its vendor.
 *
 * @param catalogue - What is built in and the user's own file, unless given.
 */
export function parseModel(
  name: string,
  options: ModelOptions = {},
  catalogue: Catalogue = catalogueOf(),
): ModelConfig {
  const model = made(name, options);
  const entry = catalogue.find(model.provider, model.id);
  if (entry === undefined) return model;
  const said = Object.keys(options).filter((key) => options[key as keyof ModelOptions] !== undefined);
  const known = Object.entries(knownOf(entry)).filter(([key]) => !said.includes(key));
  return { ...model, ...Object.fromEntries(known) };
}

function made(name: string, options: ModelOptions): ModelConfig {
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
