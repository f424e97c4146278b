import { z } from "zod";
import { Headers, holdsSecret, NO_SECRET_IN_ADDRESS } from "./headers.ts";

/** The wire protocols. Routing is by this name alone, never guessed from a model's name. */
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

/** The protocol of a vendor that an application has registered itself: `custom_` and a name of its own. */
export const CustomProtocol = z.templateLiteral(["custom_", z.string().regex(/^[a-z0-9_]{1,60}$/)]);
export type CustomProtocol = z.infer<typeof CustomProtocol>;

/** Dollars per million tokens. What is left out costs nothing. */
export const CostRates = z.strictObject({
  input: z.number().nonnegative().default(0),
  output: z.number().nonnegative().default(0),
  cacheRead: z.number().nonnegative().default(0),
  cacheWrite: z.number().nonnegative().default(0),
  /** Of a question of more tokens than `above`, those in a cache included: they hold for all of it and its answer. */
  dearer: z
    .strictObject({
      above: z.number().int().positive(),
      input: z.number().nonnegative(),
      output: z.number().nonnegative(),
      cacheRead: z.number().nonnegative(),
      cacheWrite: z.number().nonnegative(),
    })
    .optional(),
});
export type CostRates = z.infer<typeof CostRates>;

/** How a server that speaks OpenAI's chat completions differs from OpenAI. */
export const OpenAiCompat = z.strictObject({
  supportsStore: z.boolean().default(false),
  supportsDeveloperRole: z.boolean().default(false),
  supportsReasoningEffort: z.boolean().default(false),
  supportsUsageInStreaming: z.boolean().default(true),
  maxTokensField: z.enum(["max_tokens", "max_completion_tokens"]).default("max_tokens"),
  requiresToolResultName: z.boolean().default(false),
  requiresAssistantAfterToolResult: z.boolean().default(false),
  thinkingFormat: z.enum(["openai", "xai", "qwen", "openrouter"]).default("openai"),
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

export const ModelConfig = z.strictObject({
  /** What the vendor calls the model. */
  id: z.string().min(1),
  name: z.string().optional(),
  api: z.union([Protocol, CustomProtocol]),
  /** Who serves it, for people and for prices: `anthropic`, `openai`, `local`, … */
  provider: z.string().min(1),
  /** Without a trailing slash, and without user and password, which would be secrets in a record. */
  baseUrl: z
    .string()
    .url()
    .refine((url) => !/^[^/]*\/\/[^/?#]*@/.test(url), "remove the user and password: use a key or headers")
    .refine((url) => !holdsSecret(url), NO_SECRET_IN_ADDRESS),
  /** Absent where the server needs none. */
  apiKey: SecretReference.optional(),
  reasoning: z.boolean().default(false),
  /** Tokens. */
  contextWindow: z.number().int().positive(),
  /** Tokens that one answer may have. */
  maxTokens: z.number().int().positive().default(8192),
  /** `null`: the prices are unknown, which is not the same as free. A free model has prices of 0. */
  cost: CostRates.nullable().default(null),
  /** Sent with every request. A secret in a value is a reference: `Bearer ${TOKEN}`. */
  headers: Headers.default({}),
  compat: OpenAiCompat.optional(),
  /** Asked for by the vendor's own name (`flex`, `priority`, `standard_only`, …); the vendor's default when absent. */
  serviceTier: z.string().min(1).optional(),
  /**
   * How the model is told to think, where its protocol knows several: a number of tokens, the model's own choice
   * guided by an effort, or a level. By the model's name when absent.
   */
  thinkingStyle: z.enum(["budget", "adaptive", "level"]).optional(),
  /** Of OpenAI's models: how much they reason, in its own words, in place of what the thinking level says. */
  effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).optional(),
  /** Of OpenAI's newer models: how much they say. */
  verbosity: z.enum(["low", "medium", "high"]).optional(),
  /** Claude: thinks between its calls too. Models without a budget do so unasked, and with this even when `off`. */
  thinkingBetweenTools: z.boolean().optional(),
  /** Azure only: the dated form of the API (`2025-01-01-preview`); today's `/openai/v1` form when absent. */
  apiVersion: z.string().min(1).optional(),
});
export type ModelConfig = z.infer<typeof ModelConfig>;
/** What an author writes: everything with a default may be left out. */
export type ModelConfigInput = z.input<typeof ModelConfig>;

export const CacheConfig = z.strictObject({
  enabled: z.boolean().default(true),
  strategy: z
    .union([
      z.literal("auto"),
      z.literal("disabled"),
      z.strictObject({ cacheSystem: z.boolean(), cacheTools: z.boolean(), cacheMessages: z.boolean() }),
    ])
    .default("auto"),
});
export type CacheConfig = z.infer<typeof CacheConfig>;
