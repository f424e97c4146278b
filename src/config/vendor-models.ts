import { check } from "../schema/check.ts";
import { ModelConfig, type ModelConfigInput } from "../schema/model.ts";
import type { Catalogue } from "./catalogue/catalogue.ts";
import { toKnownModel } from "./catalogue/catalogue-entry.ts";
import { readCatalogue } from "./catalogue/user-file.ts";
import { getGeminiLimits, getVertexBaseUrl } from "./google-endpoint.ts";

/** Values that override those of a factory. Everything else comes from the vendor. */
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
    | "input"
    | "serviceTier"
    | "apiVersion"
    | "thinkingStyle"
    | "effort"
    | "verbosity"
    | "thinkingBetweenTools"
  >
>;

/** A model's name or one of its options is invalid or incomplete. */
export class ModelError extends Error {
  override readonly name = "ModelError";
}

type VendorModel = Omit<ModelConfigInput, "id">;

/**
 * Builds the configuration of a vendor's model. The catalogue supplies values that the options do not set. For a model
 * that is not in the catalogue, the vendor's usual values apply, and its prices are unknown.
 */
function buildModel(
  factory: string,
  id: string,
  defaults: VendorModel,
  options: ModelOptions,
  catalogue?: Catalogue,
): ModelConfig {
  const givenOptions = Object.fromEntries(
    // An undefined key explicitly means no key; other undefined options are ignored.
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

/** Returns a reference to a variable. It is resolved on each use. */
function toVariableReference(name: string): string {
  return `\${${name}}`;
}

/** Reads the address of a proxy from the variable that the vendor's own SDK uses. */
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

/** Checks whether an OpenAI model reasons before it answers. ChatGPT's models do not. */
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

/** Builds a model for OpenAI's Responses protocol, in which models reason and call tools in the same answer. */
export function openaiResponses(id: string, options: ModelOptions = {}, catalogue?: Catalogue): ModelConfig {
  return openai(id, { ...options, api: "openai_responses" }, catalogue);
}

/**
 * Builds a model for a deployment in Azure. Without a base URL, its address comes from `AZURE_OPENAI_BASE_URL`,
 * `AZURE_OPENAI_ENDPOINT` or `AZURE_OPENAI_RESOURCE_NAME`. With an `authorization` header (Entra ID) it needs no key.
 */
export function azure(deployment: string, options: ModelOptions = {}, catalogue?: Catalogue): ModelConfig {
  const baseUrl = options.baseUrl ?? readAzureUrlFromEnvironment();
  if (baseUrl === undefined) {
    throw new ModelError(
      `The address of the Azure deployment ${deployment} is missing: write azure/${deployment}@https://RESOURCE.openai.azure.com, or set AZURE_OPENAI_ENDPOINT`,
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
 * Builds a model for Amazon Bedrock in the region of this environment. It uses the bearer key or the credentials of this
 * environment, if any, or else those of the worker's machine.
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
 * Builds a model for Gemini on Google Cloud, in the environment's project and location. Without a key, the worker's own
 * credentials are used. An API key needs no project.
 */
export function vertex(id: string, options: ModelOptions = {}, catalogue?: Catalogue): ModelConfig {
  const baseUrl = options.baseUrl ?? getVertexBaseUrl(process.env, options.apiKey !== undefined);
  if (baseUrl === undefined) {
    throw new ModelError(
      "The Google Cloud project is missing: set GOOGLE_CLOUD_PROJECT (and GOOGLE_CLOUD_LOCATION, global by default), or specify a base URL",
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

/** Builds a model for any chat completions server: llama.cpp, Ollama, vLLM, LM Studio, … The key is optional. */
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
