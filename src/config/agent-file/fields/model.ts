import { z } from "zod";
import { CustomProtocol, ModelConfig, OpenAiCompat, Protocol } from "../../../schema/model.ts";
import { defineField, describeKey, type Field, integerFrom, withExpected } from "../define-field.ts";

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
  withExpected(CustomProtocol, "custom_NAME, of a vendor that the worker has registered"),
]);

function getProtocol(name: string): string {
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
export function getVendor(api: Protocol | CustomProtocol): Vendor {
  return api in VENDORS ? VENDORS[api as Protocol] : { provider: api.slice("custom_".length) };
}

export const DEFAULT_MODEL = "unknown";
export const DEFAULT_CONTEXT_WINDOW = 200_000;

const Key = withExpected(
  z.string().regex(/^(\$\{[A-Za-z_][A-Za-z0-9_]*\})?$/),
  "the environment variable that holds the key, as ${NAME}, never the key itself; none where the server needs none",
);
/** Of prices: not the same as free. */
const UNKNOWN = "unknown";

const defineHighRate = (what: string) =>
  describeKey(z.number().nonnegative(), `Dollars per million ${what}.`);
const defineRate = (what: string) => describeKey(z.number().nonnegative(), `Dollars per million ${what}.`, 0);
const trimTrailingSlash = (url: unknown) => (typeof url === "string" ? url.replace(/\/+$/, "") : url);

const toSnakeCase = (camel: string) => camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const COMPAT = Object.entries(OpenAiCompat.shape).map(([name, schema]) => {
  const byDefault = OpenAiCompat.parse({})[name as keyof OpenAiCompat];
  const words = toSnakeCase(name).replaceAll("_", " ");
  return defineField(
    `compat.${toSnakeCase(name)}`,
    `model.compat.${name}`,
    describeKey(schema.unwrap(), `Of a server that differs from OpenAI: ${words}.`, byDefault),
  );
});

export const MODEL_FIELDS: readonly Field[] = [
  defineField(
    "model",
    "model.id",
    describeKey(z.string().min(1), "What the vendor calls the model.", DEFAULT_MODEL),
  ),
  defineField(
    "name",
    "model.name",
    describeKey(z.string(), "The model's name for people; what the vendor calls it unless said."),
  ),
  defineField(
    "api",
    "model.api",
    describeKey(Api, "The wire protocol; never guessed from the model.", "anthropic_messages"),
    {
      read: (value) => (typeof value === "string" ? getProtocol(value) : value),
    },
  ),
  defineField(
    "provider",
    "model.provider",
    describeKey(z.string().min(1), "Who serves it; the protocol's vendor unless said."),
  ),
  defineField(
    "base_url",
    "model.baseUrl",
    describeKey(
      withExpected(z.url(), "a URL such as https://HOST/v1"),
      "Where it is served; at the protocol's vendor unless said.",
    ),
    { also: ["url"], read: trimTrailingSlash },
  ),
  defineField(
    "api_key",
    "model.apiKey",
    describeKey(
      Key,
      "The environment variable that holds the key, as `${NAME}`. Read by the worker, when it asks the vendor.",
    ),
  ),
  defineField(
    "reasoning",
    "model.reasoning",
    describeKey(z.boolean(), "The model can think before it answers.", false),
  ),
  defineField(
    "thinking_style",
    "model.thinkingStyle",
    describeKey(
      ModelConfig.shape.thinkingStyle.unwrap(),
      "How it is told to think, where its protocol knows several ways; by the model's name unless said.",
    ),
  ),
  defineField(
    "thinking_between_tools",
    "model.thinkingBetweenTools",
    describeKey(
      z.boolean(),
      "Of Claude: it thinks between its calls too. Newer models do so unasked, and with this even at `off`.",
    ),
  ),
  defineField(
    "context_window",
    "model.contextWindow",
    describeKey(integerFrom(1), "Tokens.", DEFAULT_CONTEXT_WINDOW),
  ),
  defineField(
    "max_tokens",
    "model.maxTokens",
    describeKey(integerFrom(1), "Tokens that one answer may have.", 8192),
  ),
  defineField(
    "headers",
    "model.headers",
    describeKey(
      z.record(z.string(), z.string()),
      "Sent with every request. `${NAME}` in a value is read by the worker, as keys are.",
    ),
  ),
  defineField(
    "service_tier",
    "model.serviceTier",
    describeKey(
      z.string().min(1),
      "Asked for by the vendor's own name for it; the vendor's default unless said.",
    ),
  ),
  defineField(
    "effort",
    "model.effort",
    describeKey(
      ModelConfig.shape.effort.unwrap(),
      "Of OpenAI's models: how much they reason, in place of what `thinking_level` says; the nearest that the model takes.",
    ),
  ),
  defineField(
    "verbosity",
    "model.verbosity",
    describeKey(
      ModelConfig.shape.verbosity.unwrap(),
      "Of OpenAI's newer models: how much they say; the model's own way unless said.",
    ),
  ),
  defineField(
    "api_version",
    "model.apiVersion",
    describeKey(
      z.string().min(1),
      "Of Azure: the dated form of its API; today's form, without one, unless said.",
    ),
  ),
  defineField(
    "cost",
    "model.cost",
    describeKey(
      z.literal(UNKNOWN),
      `Its prices; \`"${UNKNOWN}"\` where the catalogue is not to be asked. The catalogue's unless said, else unknown.`,
    ),
    {
      read: (value) => (value === UNKNOWN ? null : undefined),
      write: (value) => (value === null ? UNKNOWN : undefined),
    },
  ),
  defineField("cost.input_per_million", "model.cost.input", defineRate("input tokens")),
  defineField("cost.output_per_million", "model.cost.output", defineRate("output tokens")),
  defineField(
    "cost.cache_read_per_million",
    "model.cost.cacheRead",
    defineRate("tokens read from the vendor's cache"),
  ),
  defineField(
    "cost.cache_write_per_million",
    "model.cost.cacheWrite",
    defineRate("tokens written to the vendor's cache"),
  ),
  defineField(
    "cost.dearer.above",
    "model.cost.dearer.above",
    describeKey(
      z.number().int().positive(),
      "A question of more tokens than these costs what this table says, all of it and its answer.",
    ),
  ),
  defineField("cost.dearer.input_per_million", "model.cost.dearer.input", defineHighRate("input tokens")),
  defineField("cost.dearer.output_per_million", "model.cost.dearer.output", defineHighRate("output tokens")),
  defineField(
    "cost.dearer.cache_read_per_million",
    "model.cost.dearer.cacheRead",
    defineHighRate("tokens read from the vendor's cache"),
  ),
  defineField(
    "cost.dearer.cache_write_per_million",
    "model.cost.dearer.cacheWrite",
    defineHighRate("tokens written to the vendor's cache"),
  ),
  ...COMPAT,
];
