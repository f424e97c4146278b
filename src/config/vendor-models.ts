import { check } from "../schema/check.ts";
import { ModelConfig, type ModelConfigInput } from "../schema/model.ts";
import type { Catalogue } from "./catalogue/catalogue.ts";
import { toKnownModel } from "./catalogue/catalogue-entry.ts";
import { readCatalogue } from "./catalogue/user-file.ts";
import { getGeminiLimits, getVertexBaseUrl } from "./google-endpoint.ts";

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

/** A model's name as people write it, or an option of it, does not say what it must. */
export class ModelError extends Error {
  override readonly name = "ModelError";
}

type VendorModel = Omit<ModelConfigInput, "id">;

/**
 * A vendor's model. What the options do not say comes from the catalogue; of a model that the catalogue does not know,
 * from the vendor's usual values, and its prices are unknown.
 */
function buildModel(
  factory: string,
  id: string,
  defaults: VendorModel,
  options: ModelOptions,
  catalogue?: Catalogue,
): ModelConfig {
  const givenOptions = Object.fromEntries(
    // A key that is left out on purpose is none; anything else that is undefined says nothing.
    Object.entries(options ?? {}).filter(([key, value]) => value !== undefined || key === "apiKey"),
  );
  const entry =
    typeof id === "string" ? (catalogue ?? readCatalogue()).find(defaults.provider, id) : undefined;
  const known = entry === undefined ? {} : toKnownModel(entry);
  const checked = check(ModelConfig, { id, ...defaults, ...known, ...givenOptions }, "model");
  if (checked.ok) return checked.value;
  const what = `${factory}(${typeof id === "string" ? JSON.stringify(id) : "…"})`;
  throw new ModelError(`The model ${what} cannot be used: ${checked.problems.join("; ")}.`);
}

/** The reference to a key, resolved at the moment of use. */
function toVariableReference(name: string): string {
  return `\${${name}}`;
}

/** A proxy in front of the vendor, named as the vendors' own SDKs name it. */
function readProxyUrl(variable: string, vendor: string): string {
  return process.env[variable] || vendor;
}

export function anthropic(id: string, options: ModelOptions = {}, catalogue?: Catalogue): ModelConfig {
  return buildModel(
    "anthropic",
    id,
    {
      api: "anthropic_messages",
      provider: "anthropic",
      baseUrl: readProxyUrl("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
      apiKey: toVariableReference("ANTHROPIC_API_KEY"),
      reasoning: true,
      contextWindow: 200_000,
    },
    options,
    catalogue,
  );
}

/** Models of OpenAI that think before they answer, unless they are ChatGPT's. */
function isReasoningModel(id: string): boolean {
  return /^(?:o\d|gpt-[5-9])/.test(id) && !/-chat(?:-|$)/.test(id);
}

export function openai(
  id: string,
  options: ModelOptions & { readonly api?: "openai_responses" } = {},
  catalogue?: Catalogue,
): ModelConfig {
  return buildModel(
    "openai",
    id,
    {
      api: "openai_completions",
      provider: "openai",
      baseUrl: readProxyUrl("OPENAI_BASE_URL", "https://api.openai.com/v1"),
      apiKey: toVariableReference("OPENAI_API_KEY"),
      reasoning: isReasoningModel(id),
      contextWindow: 128_000,
    },
    options,
    catalogue,
  );
}

/** OpenAI's newer protocol: the one in which its models reason and call tools at once. */
export function openaiResponses(id: string, options: ModelOptions = {}, catalogue?: Catalogue): ModelConfig {
  return openai(id, { ...options, api: "openai_responses" }, catalogue);
}

/**
 * A deployment in Azure. Where it is comes from `AZURE_OPENAI_BASE_URL`, `AZURE_OPENAI_ENDPOINT` or
 * `AZURE_OPENAI_RESOURCE_NAME` unless given. With an `authorization` header (Entra ID) it goes without a key.
 */
export function azure(deployment: string, options: ModelOptions = {}, catalogue?: Catalogue): ModelConfig {
  const baseUrl = options.baseUrl ?? readAzureUrlFromEnvironment();
  if (baseUrl === undefined) {
    throw new ModelError(
      `Say where ${deployment} is deployed: as azure/${deployment}@https://RESOURCE.openai.azure.com, or with AZURE_OPENAI_ENDPOINT in the environment`,
    );
  }
  const signedIn = Object.keys(options.headers ?? {}).some((name) => name.toLowerCase() === "authorization");
  return buildModel(
    "azure",
    deployment,
    {
      baseUrl,
      api: "azure_openai_responses",
      provider: "azure",
      ...(!signedIn && { apiKey: toVariableReference("AZURE_OPENAI_API_KEY") }),
      reasoning: isReasoningModel(deployment),
      contextWindow: 128_000,
    },
    { ...options, baseUrl: trimTrailingSlash(baseUrl) },
    catalogue,
  );
}

function readAzureUrlFromEnvironment(): string | undefined {
  const { AZURE_OPENAI_BASE_URL, AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_RESOURCE_NAME } = process.env;
  const resource = AZURE_OPENAI_RESOURCE_NAME && `https://${AZURE_OPENAI_RESOURCE_NAME}.openai.azure.com`;
  return AZURE_OPENAI_BASE_URL || AZURE_OPENAI_ENDPOINT || resource || undefined;
}

export function openrouter(id: string, options: ModelOptions = {}, catalogue?: Catalogue): ModelConfig {
  return buildModel(
    "openrouter",
    id,
    {
      api: "openai_completions",
      provider: "openrouter",
      baseUrl: "https://openrouter.ai/api/v1",
      apiKey: toVariableReference("OPENROUTER_API_KEY"),
      contextWindow: 200_000,
    },
    options,
    catalogue,
  );
}

/**
 * Amazon Bedrock, in the region that is named here. With the bearer key or the credentials that are named here, else with
 * those of the machine that the worker runs on.
 */
export function bedrock(id: string, options: ModelOptions = {}, catalogue?: Catalogue): ModelConfig {
  const region = process.env["AWS_REGION"] || process.env["AWS_DEFAULT_REGION"] || "us-east-1";
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const key = ["AWS_BEARER_TOKEN_BEDROCK", "AWS_BEDROCK_CREDENTIALS"].find((name) => process.env[name]);
  return buildModel(
    "bedrock",
    id,
    {
      api: "bedrock_converse_stream",
      provider: "bedrock",
      baseUrl: readProxyUrl(
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        `https://bedrock-runtime.${region}.${domain}`,
      ),
      ...(key !== undefined && { apiKey: toVariableReference(key) }),
      reasoning: /claude-(?:3-7|(?:opus|sonnet|haiku|fable|mythos)-)|amazon\.nova-2-|openai\./.test(id),
      contextWindow: 200_000,
    },
    options,
    catalogue,
  );
}

export function google(id: string, options: ModelOptions = {}, catalogue?: Catalogue): ModelConfig {
  return buildModel(
    "google",
    id,
    {
      api: "google_generative_ai",
      provider: "google",
      baseUrl: readProxyUrl("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
      apiKey: toVariableReference(
        process.env["GEMINI_API_KEY"] || !process.env["GOOGLE_API_KEY"] ? "GEMINI_API_KEY" : "GOOGLE_API_KEY",
      ),
      reasoning: true,
      ...getGeminiLimits(id),
    },
    options,
    catalogue,
  );
}

/**
 * Gemini on Google Cloud, in the project and at the location that the environment names. Without a key the worker's
 * own credentials are used; an API key needs no project.
 */
export function vertex(id: string, options: ModelOptions = {}, catalogue?: Catalogue): ModelConfig {
  const baseUrl = options.baseUrl ?? getVertexBaseUrl(process.env, options.apiKey !== undefined);
  if (baseUrl === undefined) {
    throw new ModelError(
      "Say which project of Google Cloud pays: set GOOGLE_CLOUD_PROJECT (and GOOGLE_CLOUD_LOCATION, global unless said), or a base URL",
    );
  }
  return buildModel(
    "vertex",
    id,
    {
      baseUrl,
      api: "google_vertex",
      provider: "vertex",
      reasoning: true,
      ...getGeminiLimits(id),
    },
    { ...options, baseUrl: trimTrailingSlash(baseUrl) },
    catalogue,
  );
}

/** Any server that speaks chat completions: llama.cpp, Ollama, vLLM, LM Studio, … Without a key unless given one. */
export function local(
  url: string,
  id: string,
  options: ModelOptions = {},
  catalogue?: Catalogue,
): ModelConfig {
  return buildModel(
    "local",
    id,
    {
      api: "openai_completions",
      provider: "local",
      baseUrl: url,
      contextWindow: 128_000,
    },
    options,
    catalogue,
  );
}

export function trimTrailingSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
