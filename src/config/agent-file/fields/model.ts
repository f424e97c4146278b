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

/** The default vendor of a protocol, and its address (PROV-26). */
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

/** Returns the default vendor of a protocol. The vendor of a custom protocol has the protocol's name and no address. */
export function getVendor(api: Protocol | CustomProtocol): Vendor {
  return api in VENDORS ? VENDORS[api as Protocol] : { provider: api.slice("custom_".length) };
}

export const DEFAULT_MODEL = "unknown";
export const DEFAULT_CONTEXT_WINDOW = 200_000;

const Key = withExpected(
  z.string().regex(/^(\$\{[A-Za-z_][A-Za-z0-9_]*\})?$/),
  "the environment variable that holds the key, as ${NAME}, never the key itself; absent if the server needs no key",
);
/** The value of `cost` for unknown prices. Unknown is not free. */
const UNKNOWN = "unknown";

const defineHighRate = (what: string) =>
  describeKey(z.number().nonnegative(), `Dollars per million ${what}.`);
const defineRate = (what: string) => describeKey(z.number().nonnegative(), `Dollars per million ${what}.`, 0);
const trimTrailingSlash = (url: unknown) => (typeof url === "string" ? url.replace(/\/+$/, "") : url);

const toSnakeCase = (camel: string) => camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const COMPAT = Object.entries(OpenAiCompat.shape).map(([name, schema]) => {
  const byDefault = OpenAiCompat.parse({})[name as keyof OpenAiCompat];
  return defineField(
    `compat.${toSnakeCase(name)}`,
    `model.compat.${name}`,
    describeKey(schema.unwrap(), schema.description, byDefault),
  );
});

export const MODEL_FIELDS: readonly Field[] = [
  defineField(
    "model",
    "model.id",
    describeKey(z.string().min(1), "The vendor's name for the model.", DEFAULT_MODEL),
  ),
  defineField(
    "name",
    "model.name",
    describeKey(z.string(), "The model's display name; the vendor's name for it by default."),
  ),
  defineField(
    "api",
    "model.api",
    describeKey(Api, "The wire protocol; it is never inferred from the model.", "anthropic_messages"),
    {
      read: (value) => (typeof value === "string" ? getProtocol(value) : value),
    },
  ),
  defineField(
    "provider",
    "model.provider",
    describeKey(z.string().min(1), "The vendor that serves the model; the protocol's vendor by default."),
  ),
  defineField(
    "base_url",
    "model.baseUrl",
    describeKey(
      withExpected(z.url(), "a URL such as https://HOST/v1"),
      "The address that serves the model; that of the protocol's vendor by default.",
    ),
    { aliases: ["url"], read: trimTrailingSlash },
  ),
  defineField(
    "api_key",
    "model.apiKey",
    describeKey(
      Key,
      "The environment variable that holds the key, as `${NAME}`. The worker reads it when it sends a request to the vendor.",
    ),
  ),
  defineField(
    "reasoning",
    "model.reasoning",
    describeKey(z.boolean(), "The model can think before it answers.", false),
  ),
  defineField(
    "input",
    "model.input",
    describeKey(
      ModelConfig.shape.input.unwrap(),
      "What the model reads besides text: `image`, `pdf`. By default the catalogue's value; for a model that is not in it, images, and PDF documents if the vendor's protocol has them.",
    ),
  ),
  defineField(
    "thinking_style",
    "model.thinkingStyle",
    describeKey(
      ModelConfig.shape.thinkingStyle.unwrap(),
      "How the request controls thinking, if the protocol has several ways; derived from the model's name by default.",
    ),
  ),
  defineField(
    "thinking_between_tools",
    "model.thinkingBetweenTools",
    describeKey(
      z.boolean(),
      "Claude only: it also thinks between its tool calls. Newer models do so by default, and with this setting even at `off`.",
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
    describeKey(integerFrom(1), "The maximum number of tokens of one answer.", 8192),
  ),
  defineField(
    "headers",
    "model.headers",
    describeKey(
      z.record(z.string(), z.string()),
      "Sent with every request. The worker replaces `${NAME}` in a value, as it does for keys.",
    ),
  ),
  defineField(
    "service_tier",
    "model.serviceTier",
    describeKey(
      z.string().min(1),
      "The service tier, by the vendor's name for it; the vendor's default if absent.",
    ),
  ),
  defineField(
    "effort",
    "model.effort",
    describeKey(
      ModelConfig.shape.effort.unwrap(),
      "OpenAI only: the reasoning effort, which overrides `thinking_level`; the nearest that the model supports is used.",
    ),
  ),
  defineField(
    "verbosity",
    "model.verbosity",
    describeKey(
      ModelConfig.shape.verbosity.unwrap(),
      "Newer OpenAI models only: how long their answers are; the model's own default if absent.",
    ),
  ),
  defineField(
    "api_version",
    "model.apiVersion",
    describeKey(
      z.string().min(1),
      "Azure only: the dated version of its API; by default the current version, which has no date.",
    ),
  ),
  defineField(
    "cost",
    "model.cost",
    describeKey(
      z.literal(UNKNOWN),
      `Its prices; \`"${UNKNOWN}"\` ignores the catalogue. By default those of the catalogue, and unknown if it has none.`,
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
      "A request of more tokens than this costs the prices of this table, for all of its tokens and those of its answer.",
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
