import { z } from "zod";
import { Headers, holdsSecret, NO_SECRET_IN_ADDRESS } from "./headers.ts";

/** The wire protocols. Routing uses this name alone and never guesses from a model's name. */
export const Protocol = z.enum([
  "anthropic_messages",
  "openai_completions",
  "openai_responses",
  "azure_openai_responses",
  "google_generative_ai",
  "google_vertex",
  "bedrock_converse_stream",
]);
export type Protocol = z.infer<typeof Protocol>;

/** The protocol of a vendor that an application has registered: `custom_` and a name of its own. */
export const CustomProtocol = z.templateLiteral(["custom_", z.string().regex(/^[a-z0-9_]{1,60}$/)]);
export type CustomProtocol = z.infer<typeof CustomProtocol>;

/** Dollars per million tokens. An omitted price is 0. */
export const CostRates = z.strictObject({
  input: z
    .number()
    .nonnegative()
    .default(0)
    .describe("Dollars per million tokens of input that is not cached."),
  output: z
    .number()
    .nonnegative()
    .default(0)
    .describe("Dollars per million tokens of answers, thinking included."),
  cacheRead: z
    .number()
    .nonnegative()
    .default(0)
    .describe("Dollars per million tokens of input that is read from the cache."),
  cacheWrite: z
    .number()
    .nonnegative()
    .default(0)
    .describe("Dollars per million tokens of input that is written to the cache."),
  dearer: z
    .strictObject({
      above: z
        .number()
        .int()
        .positive()
        .describe("The number of tokens of a request up to which the usual prices apply."),
      input: z.number().nonnegative().describe("As `input` outside."),
      output: z.number().nonnegative().describe("As `output` outside."),
      cacheRead: z.number().nonnegative().describe("As `cacheRead` outside."),
      cacheWrite: z.number().nonnegative().describe("As `cacheWrite` outside."),
    })
    .optional()
    .describe(
      "The prices of a request of more tokens than `above`, including cached ones: they apply to all of it and its answer.",
    ),
});
export type CostRates = z.infer<typeof CostRates>;

/** How a server with OpenAI's chat completions protocol differs from OpenAI. */
export const OpenAiCompat = z.strictObject({
  supportsStore: z
    .boolean()
    .default(false)
    .describe("The server knows the field `store`, which Holdfast then sets to false."),
  supportsDeveloperRole: z
    .boolean()
    .default(false)
    .describe("The system prompt is sent with the role `developer` instead of `system`."),
  supportsReasoningEffort: z
    .boolean()
    .default(false)
    .describe("The server knows the field `reasoning_effort`."),
  supportsUsageInStreaming: z
    .boolean()
    .default(true)
    .describe("The server reports the usage at the end of a stream when asked."),
  maxTokensField: z
    .enum(["max_tokens", "max_completion_tokens"])
    .default("max_tokens")
    .describe("The name of the field with the maximum tokens of an answer."),
  requiresToolResultName: z
    .boolean()
    .default(false)
    .describe("A tool result must carry the name of its tool."),
  requiresAssistantAfterToolResult: z
    .boolean()
    .default(false)
    .describe("A user message may not follow a tool result: an answer is put between them."),
  thinkingFormat: z
    .enum(["openai", "xai", "qwen", "openrouter"])
    .default("openai")
    .describe("Which fields request thinking, and carry it in answers."),
});
export type OpenAiCompat = z.infer<typeof OpenAiCompat>;

/** In any letter case. */
export const ThinkingLevel = z
  .string()
  .toLowerCase()
  .pipe(z.enum(["off", "minimal", "low", "medium", "high", "xhigh", "max"]));
export type ThinkingLevel = z.infer<typeof ThinkingLevel>;

/** A reference to a secret, such as `${ANTHROPIC_API_KEY}`: resolved in the activity, at the moment of use. */
export const SecretReference = z
  .string()
  .regex(
    /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/,
    "name the environment variable that holds the key, as ${NAME}; never write the key itself",
  );
export type SecretReference = z.infer<typeof SecretReference>;

/** A model, and how its vendor is reached. The factories, such as `anthropic`, build it. */
export const ModelConfig = z.strictObject({
  id: z.string().min(1).describe("The vendor's name for the model."),
  name: z.string().optional().describe("The display name."),
  api: z
    .union([Protocol, CustomProtocol])
    .describe(
      "The protocol of the vendor: a built-in one, or the name of one that the worker has registered.",
    ),
  provider: z
    .string()
    .min(1)
    .describe("The vendor, for users and for prices: `anthropic`, `openai`, `local`, …"),
  baseUrl: z
    .string()
    .url()
    .refine((url) => !/^[^/]*\/\/[^/?#]*@/.test(url), "remove the user and password: use a key or headers")
    .refine((url) => !holdsSecret(url), NO_SECRET_IN_ADDRESS)
    .describe(
      "The address of the vendor's API, without a trailing slash, and without user and password, which would be secrets in a record.",
    ),
  apiKey: SecretReference.optional().describe("A reference to the key; absent when the server needs none."),
  reasoning: z.boolean().default(false).describe("Whether the model can think before it answers."),
  input: z
    .array(z.enum(["image", "pdf"]))
    .optional()
    .describe(
      "What the model reads besides text. By default the catalogue decides. Without it, images are sent, and PDF documents where the vendor's protocol has them.",
    ),
  contextWindow: z.number().int().positive().describe("The model's context window, in tokens."),
  maxTokens: z.number().int().positive().default(8192).describe("The maximum tokens of one answer."),
  cost: CostRates.nullable()
    .default(null)
    .describe(
      "Its prices. `null`: they are unknown, which is not the same as free; a free model has prices of 0.",
    ),
  headers: Headers.default({}).describe(
    "Headers that are sent with every request. A secret in a value is a reference: `Bearer ${TOKEN}`.",
  ),
  compat: OpenAiCompat.optional().describe(
    "How the server differs from OpenAI, for its chat completions protocol.",
  ),
  serviceTier: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The service tier, by the vendor's own name for it (`flex`, `priority`, `standard_only`, …); the vendor's default when absent.",
    ),
  thinkingStyle: z
    .enum(["budget", "adaptive", "level"])
    .optional()
    .describe(
      "How thinking is requested, when the protocol supports several ways: a number of tokens, the model's own choice guided by an effort, or a level. By the model's name when absent.",
    ),
  effort: z
    .enum(["none", "minimal", "low", "medium", "high", "xhigh"])
    .optional()
    .describe(
      "For OpenAI's models: how much they reason, in OpenAI's terms. Replaces what the thinking level means.",
    ),
  verbosity: z
    .enum(["low", "medium", "high"])
    .optional()
    .describe("For OpenAI's newer models: how long their answers are."),
  thinkingBetweenTools: z
    .boolean()
    .optional()
    .describe(
      "Claude only: it also thinks between its calls. Models without a budget do so by default, and with this even when `off`.",
    ),
  apiVersion: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Azure only: the dated form of the API (`2025-01-01-preview`); the current `/openai/v1` form when absent.",
    ),
});
export type ModelConfig = z.infer<typeof ModelConfig>;
/** The input from an author: fields with a default are optional. */
export type ModelConfigInput = z.input<typeof ModelConfig>;

/** Which parts of a request the vendor is to cache, where it does so only on request. */
export const CacheConfig = z.strictObject({
  enabled: z.boolean().default(true).describe("Whether caching is requested at all."),
  strategy: z
    .union([
      z.literal("auto"),
      z.literal("disabled"),
      z.strictObject({
        cacheSystem: z.boolean().describe("Whether to cache the system prompt."),
        cacheTools: z.boolean().describe("Whether to cache the tools."),
        cacheMessages: z.boolean().describe("Whether to cache the conversation so far."),
      }),
    ])
    .default("auto")
    .describe("The parts of a request to cache: `auto` for all of them, `disabled` for none."),
});
export type CacheConfig = z.infer<typeof CacheConfig>;
