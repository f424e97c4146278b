import { z } from "zod";
import { CustomProtocol, ModelConfig, OpenAiCompat, Protocol } from "../../../schema/model.ts";
import { expecting, type Field, field, said, wholeFrom } from "../field.ts";

// The tables [provider], [[provider.instances]] and `provider = { … }` (CFG-15 to CFG-18).

/** Short names of protocols (CFG-16). */
const PROTOCOL_ALIASES: Readonly<Record<string, Protocol>> = {
  anthropic: "anthropic_messages",
  openai: "openai_completions",
  azure: "azure_openai_responses",
  google: "google_generative_ai",
  gemini: "google_generative_ai",
  vertex: "google_vertex",
  bedrock: "bedrock_converse_stream",
};

const API_NAMES = [...Protocol.options, ...Object.keys(PROTOCOL_ALIASES)] as [string, ...string[]];

const Api = z.union([
  z.enum(API_NAMES),
  expecting(CustomProtocol, "custom_NAME, of a vendor that the worker has registered"),
]);

function protocolOf(name: string): string {
  return PROTOCOL_ALIASES[name] ?? name;
}

type Vendor = { readonly provider: string; readonly baseUrl?: string };

/** Who serves a protocol, and where, when the file does not say (PROV-26). */
const VENDORS: Readonly<Record<Protocol, Vendor>> = {
  anthropic_messages: { provider: "anthropic", baseUrl: "https://api.anthropic.com" },
  openai_completions: { provider: "openai", baseUrl: "https://api.openai.com/v1" },
  openai_responses: { provider: "openai", baseUrl: "https://api.openai.com/v1" },
  azure_openai_responses: { provider: "azure" },
  google_generative_ai: { provider: "google", baseUrl: "https://generativelanguage.googleapis.com" },
  google_vertex: { provider: "vertex" },
  bedrock_converse_stream: {
    provider: "bedrock",
    baseUrl: "https://bedrock-runtime.us-east-1.amazonaws.com",
  },
};

/** A protocol of a worker's own is served by the vendor of that name, who is nowhere in particular. */
export function vendorOf(api: Protocol | CustomProtocol): Vendor {
  return api in VENDORS ? VENDORS[api as Protocol] : { provider: api.slice("custom_".length) };
}

export const DEFAULT_MODEL = "unknown";
export const DEFAULT_CONTEXT_WINDOW = 200_000;

const Key = expecting(
  z.string().regex(/^(\$\{[A-Za-z_][A-Za-z0-9_]*\})?$/),
  "the environment variable that holds the key, as ${NAME}, never the key itself; none where the server needs none",
);
/** Of prices: not the same as free. */
const UNKNOWN = "unknown";

const dearerRate = (what: string) => said(z.number().nonnegative(), `Dollars per million ${what}.`);
const rate = (what: string) => said(z.number().nonnegative(), `Dollars per million ${what}.`, 0);
const withoutSlash = (url: unknown) => (typeof url === "string" ? url.replace(/\/+$/, "") : url);

const snake = (camel: string) => camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const COMPAT = Object.entries(OpenAiCompat.shape).map(([name, schema]) => {
  const byDefault = OpenAiCompat.parse({})[name as keyof OpenAiCompat];
  const words = snake(name).replaceAll("_", " ");
  return field(
    `compat.${snake(name)}`,
    `model.compat.${name}`,
    said(schema.unwrap(), `Of a server that differs from OpenAI: ${words}.`, byDefault),
  );
});

export const MODEL_FIELDS: readonly Field[] = [
  field("model", "model.id", said(z.string().min(1), "What the vendor calls the model.", DEFAULT_MODEL)),
  field(
    "name",
    "model.name",
    said(z.string(), "The model's name for people; what the vendor calls it unless said."),
  ),
  field(
    "api",
    "model.api",
    said(Api, "The wire protocol; never guessed from the model.", "anthropic_messages"),
    {
      read: (value) => (typeof value === "string" ? protocolOf(value) : value),
    },
  ),
  field(
    "provider",
    "model.provider",
    said(z.string().min(1), "Who serves it; the protocol's vendor unless said."),
  ),
  field(
    "base_url",
    "model.baseUrl",
    said(
      expecting(z.url(), "a URL such as https://HOST/v1"),
      "Where it is served; at the protocol's vendor unless said.",
    ),
    { also: ["url"], read: withoutSlash },
  ),
  field(
    "api_key",
    "model.apiKey",
    said(
      Key,
      "The environment variable that holds the key, as `${NAME}`. Read by the worker, when it asks the vendor.",
    ),
  ),
  field("reasoning", "model.reasoning", said(z.boolean(), "The model can think before it answers.", false)),
  field(
    "thinking_style",
    "model.thinkingStyle",
    said(
      ModelConfig.shape.thinkingStyle.unwrap(),
      "How it is told to think, where its protocol knows several ways; by the model's name unless said.",
    ),
  ),
  field(
    "thinking_between_tools",
    "model.thinkingBetweenTools",
    said(
      z.boolean(),
      "Of Claude: it thinks between its calls too. Newer models do so unasked, and with this even at `off`.",
    ),
  ),
  field("context_window", "model.contextWindow", said(wholeFrom(1), "Tokens.", DEFAULT_CONTEXT_WINDOW)),
  field("max_tokens", "model.maxTokens", said(wholeFrom(1), "Tokens that one answer may have.", 8192)),
  field(
    "headers",
    "model.headers",
    said(
      z.record(z.string(), z.string()),
      "Sent with every request. `${NAME}` in a value is read by the worker, as keys are.",
    ),
  ),
  field(
    "service_tier",
    "model.serviceTier",
    said(z.string().min(1), "Asked for by the vendor's own name for it; the vendor's default unless said."),
  ),
  field(
    "effort",
    "model.effort",
    said(
      ModelConfig.shape.effort.unwrap(),
      "Of OpenAI's models: how much they reason, in place of what `thinking_level` says; the nearest that the model takes.",
    ),
  ),
  field(
    "verbosity",
    "model.verbosity",
    said(
      ModelConfig.shape.verbosity.unwrap(),
      "Of OpenAI's newer models: how much they say; the model's own way unless said.",
    ),
  ),
  field(
    "api_version",
    "model.apiVersion",
    said(z.string().min(1), "Of Azure: the dated form of its API; today's form, without one, unless said."),
  ),
  field(
    "cost",
    "model.cost",
    said(
      z.literal(UNKNOWN),
      `Its prices; \`"${UNKNOWN}"\` where the catalogue is not to be asked. The catalogue's unless said, else unknown.`,
    ),
    {
      read: (value) => (value === UNKNOWN ? null : undefined),
      write: (value) => (value === null ? UNKNOWN : undefined),
    },
  ),
  field("cost.input_per_million", "model.cost.input", rate("input tokens")),
  field("cost.output_per_million", "model.cost.output", rate("output tokens")),
  field("cost.cache_read_per_million", "model.cost.cacheRead", rate("tokens read from the vendor's cache")),
  field(
    "cost.cache_write_per_million",
    "model.cost.cacheWrite",
    rate("tokens written to the vendor's cache"),
  ),
  field(
    "cost.dearer.above",
    "model.cost.dearer.above",
    said(
      z.number().int().positive(),
      "A question of more tokens than these costs what this table says, all of it and its answer.",
    ),
  ),
  field("cost.dearer.input_per_million", "model.cost.dearer.input", dearerRate("input tokens")),
  field("cost.dearer.output_per_million", "model.cost.dearer.output", dearerRate("output tokens")),
  field(
    "cost.dearer.cache_read_per_million",
    "model.cost.dearer.cacheRead",
    dearerRate("tokens read from the vendor's cache"),
  ),
  field(
    "cost.dearer.cache_write_per_million",
    "model.cost.dearer.cacheWrite",
    dearerRate("tokens written to the vendor's cache"),
  ),
  ...COMPAT,
];
