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
  /** For input that is not cached. */
  input: z.number().nonnegative().default(0),
  /** For answers, thinking included. */
  output: z.number().nonnegative().default(0),
  /** For input that is read from the cache. */
  cacheRead: z.number().nonnegative().default(0),
  /** For input that is written to the cache. */
  cacheWrite: z.number().nonnegative().default(0),
  /** For a request of more tokens than `above`, including cached ones: these prices apply to all of it and its answer. */
  dearer: z
    .strictObject({
      /** The number of tokens of a request up to which the usual prices apply. */
      above: z.number().int().positive(),
      /** As outside. */
      input: z.number().nonnegative(),
      /** As outside. */
      output: z.number().nonnegative(),
      /** As outside. */
      cacheRead: z.number().nonnegative(),
      /** As outside. */
      cacheWrite: z.number().nonnegative(),
    })
    .optional(),
});
export type CostRates = z.infer<typeof CostRates>;

/** How a server with OpenAI's chat completions protocol differs from OpenAI. */
export const OpenAiCompat = z.strictObject({
  /** The server knows the field `store`, which Holdfast then sets to false. */
  supportsStore: z.boolean().default(false),
  /** The system prompt is sent with the role `developer` instead of `system`. */
  supportsDeveloperRole: z.boolean().default(false),
  /** The server knows the field `reasoning_effort`. */
  supportsReasoningEffort: z.boolean().default(false),
  /** The server reports the usage at the end of a stream when asked. */
  supportsUsageInStreaming: z.boolean().default(true),
  /** The name of the field with the maximum tokens of an answer. */
  maxTokensField: z.enum(["max_tokens", "max_completion_tokens"]).default("max_tokens"),
  /** A tool result must carry the name of its tool. */
  requiresToolResultName: z.boolean().default(false),
  /** A user message may not follow a tool result: an answer is put between them. */
  requiresAssistantAfterToolResult: z.boolean().default(false),
  /** Which fields request thinking, and carry it in answers. */
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

/** A model, and how its vendor is reached. The factories, such as `anthropic`, build it. */
export const ModelConfig = z.strictObject({
  /** The vendor's name for the model. */
  id: z.string().min(1),
  /** The display name. */
  name: z.string().optional(),
  /** The protocol of the vendor: a built-in one, or the name of one that the worker has registered. */
  api: z.union([Protocol, CustomProtocol]),
  /** The vendor, for users and for prices: `anthropic`, `openai`, `local`, … */
  provider: z.string().min(1),
  /** Without a trailing slash, and without user and password, which would be secrets in a record. */
  baseUrl: z
    .string()
    .url()
    .refine((url) => !/^[^/]*\/\/[^/?#]*@/.test(url), "remove the user and password: use a key or headers")
    .refine((url) => !holdsSecret(url), NO_SECRET_IN_ADDRESS),
  /** Absent when the server needs none. */
  apiKey: SecretReference.optional(),
  /** Whether the model can think before it answers. */
  reasoning: z.boolean().default(false),
  /**
   * What the model reads besides text. By default the catalogue decides. Without it, images are sent, and PDF documents where
   * the vendor's protocol has them.
   */
  input: z.array(z.enum(["image", "pdf"])).optional(),
  /** Tokens. */
  contextWindow: z.number().int().positive(),
  /** The maximum tokens of one answer. */
  maxTokens: z.number().int().positive().default(8192),
  /** `null`: the prices are unknown, which is not the same as free. A free model has prices of 0. */
  cost: CostRates.nullable().default(null),
  /** Sent with every request. A secret in a value is a reference: `Bearer ${TOKEN}`. */
  headers: Headers.default({}),
  /** How the server differs from OpenAI, for its chat completions protocol. */
  compat: OpenAiCompat.optional(),
  /** The vendor's own name for the tier (`flex`, `priority`, `standard_only`, …); the vendor's default when absent. */
  serviceTier: z.string().min(1).optional(),
  /**
   * How thinking is requested, when the protocol supports several ways: a number of tokens, the model's own choice guided
   * by an effort, or a level. By the model's name when absent.
   */
  thinkingStyle: z.enum(["budget", "adaptive", "level"]).optional(),
  /** For OpenAI's models: how much they reason, in OpenAI's terms. Replaces what the thinking level means. */
  effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).optional(),
  /** For OpenAI's newer models: how long their answers are. */
  verbosity: z.enum(["low", "medium", "high"]).optional(),
  /** Claude: also thinks between its calls. Models without a budget do so by default, and with this even when `off`. */
  thinkingBetweenTools: z.boolean().optional(),
  /** Azure only: the dated form of the API (`2025-01-01-preview`); the current `/openai/v1` form when absent. */
  apiVersion: z.string().min(1).optional(),
});
export type ModelConfig = z.infer<typeof ModelConfig>;
/** The input from an author: fields with a default are optional. */
export type ModelConfigInput = z.input<typeof ModelConfig>;

/** Which parts of a request the vendor is to cache, where it does so only on request. */
export const CacheConfig = z.strictObject({
  /** `false` requests no caching. */
  enabled: z.boolean().default(true),
  /** `auto` requests caching of all parts, `disabled` of none. */
  strategy: z
    .union([
      z.literal("auto"),
      z.literal("disabled"),
      z.strictObject({
        /** The system prompt. */

        cacheSystem: z.boolean(),
        /** The tools. */
        cacheTools: z.boolean(),
        /** The conversation so far. */
        cacheMessages: z.boolean(),
      }),
    ])
    .default("auto"),
});
export type CacheConfig = z.infer<typeof CacheConfig>;
