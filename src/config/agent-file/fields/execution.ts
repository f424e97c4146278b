import { z } from "zod";
import { DEFAULT_MAX_WAIT_MS } from "../../../core/machine/vendor-wait.ts";
import { Delegation, QueueMode } from "../../../schema/definition.ts";
import { Limits } from "../../../schema/limits.ts";
import { RetryConfig } from "../../../schema/recovery.ts";
import {
  allowNone,
  defineField,
  describeKey,
  describeRequiredKey,
  type Field,
  integerFrom,
  NONE_AS_NULL,
  SECONDS_AS_MS,
} from "../define-field.ts";

// Limits and execution settings of an agent (CFG-23).

const LIMITS = Limits.parse({});
const RETRY = RetryConfig.parse({});
const retry = RetryConfig.shape;
const DELEGATION = Delegation.parse({});

export type LimitDefaults = {
  readonly maxTurns: number | null;
  readonly maxTotalTokens: number | null;
  readonly maxDurationMs: number | null;
};

/**
 * @param to - The path of the limits in the definition.
 * @param defaults - The limits that there are: those of a job lack some.
 */
export function defineLimitFields(at: string, to: string, defaults: LimitDefaults): readonly Field[] {
  const seconds = z.number().positive();
  const inSeconds = defaults.maxDurationMs === null ? "none" : defaults.maxDurationMs / 1000;
  const fields: { readonly [Name in keyof Limits]: Field } = {
    maxTurns: defineField(
      `${at}max_turns`,
      `${to}.maxTurns`,
      describeKey(
        allowNone(integerFrom(1)),
        "The maximum number of model answers.",
        defaults.maxTurns ?? "none",
      ),
      NONE_AS_NULL,
    ),
    maxTotalTokens: defineField(
      `${at}max_total_tokens`,
      `${to}.maxTotalTokens`,
      describeKey(
        allowNone(integerFrom(1)),
        "The maximum number of input and output tokens of all turns together.",
        defaults.maxTotalTokens ?? "none",
      ),
      NONE_AS_NULL,
    ),
    maxDurationMs: defineField(
      `${at}max_duration_secs`,
      `${to}.maxDurationMs`,
      describeKey(allowNone(seconds), "Seconds; fractions are allowed.", inSeconds),
      SECONDS_AS_MS,
    ),
    maxCostUsd: defineField(
      `${at}max_cost`,
      `${to}.maxCostUsd`,
      describeKey(
        allowNone(seconds),
        "Dollars. An error if the price of a model is unknown: see [provider.cost].",
        "none",
      ),
      NONE_AS_NULL,
    ),
    maxToolCalls: defineField(
      `${at}max_tool_calls`,
      `${to}.maxToolCalls`,
      describeKey(
        allowNone(integerFrom(1)),
        "The maximum number of tool calls, also denied ones. Those of sub-agents do not count.",
        "none",
      ),
      NONE_AS_NULL,
    ),
  };
  return Object.entries(fields).flatMap(([name, field]) => (name in defaults ? [field] : []));
}

const CacheParts = z.strictObject({
  cache_system: describeRequiredKey(z.boolean(), "Caches the system prompt."),
  cache_tools: describeRequiredKey(z.boolean(), "Caches the tools."),
  cache_messages: describeRequiredKey(z.boolean(), "Caches the messages."),
});

const defineQueueMode = (what: string) =>
  describeKey(QueueMode, `How ${what} are read: one at a time or all at once.`, "one-at-a-time");

export const EXECUTION_FIELDS: readonly Field[] = [
  ...defineLimitFields("execution.", "limits", LIMITS),
  defineField("execution.steering_mode", "steeringMode", defineQueueMode("steering messages")),
  defineField("execution.follow_up_mode", "followUpMode", defineQueueMode("follow-ups")),
  defineField(
    "execution.retry.max_retries",
    "retry.maxRetries",
    describeKey(integerFrom(0, 100), retry.maxRetries.description, RETRY.maxRetries),
  ),
  defineField(
    "execution.retry.initial_delay_ms",
    "retry.initialDelayMs",
    describeKey(integerFrom(1), retry.initialDelayMs.description, RETRY.initialDelayMs),
  ),
  defineField(
    "execution.retry.backoff_multiplier",
    "retry.backoffMultiplier",
    describeKey(z.number().min(1), retry.backoffMultiplier.description, RETRY.backoffMultiplier),
  ),
  defineField(
    "execution.retry.max_delay_ms",
    "retry.maxDelayMs",
    describeKey(integerFrom(1), retry.maxDelayMs.description, RETRY.maxDelayMs),
  ),
  defineField(
    "execution.retry.max_wait_ms",
    "retry.maxWaitMs",
    describeKey(integerFrom(1), retry.maxWaitMs.description, DEFAULT_MAX_WAIT_MS),
  ),
  defineField(
    "execution.cache.enabled",
    "cache.enabled",
    describeKey(z.boolean(), "Whether the vendor's prompt cache is used.", true),
  ),
  defineField(
    "execution.cache.strategy",
    "cache.strategy",
    describeKey(
      z.union([z.enum(["auto", "disabled"]), CacheParts]),
      "The parts of a request that are cached.",
      "auto",
    ),
    { read: parseCacheParts, write: formatCacheParts },
  ),
  defineField(
    "delegation.max_depth",
    "delegation.maxDepth",
    describeKey(
      integerFrom(1, 10),
      "The maximum nesting of sub-agents; at 1 a sub-agent has none of its own.",
      DELEGATION.maxDepth,
    ),
  ),
  defineField(
    "delegation.max_children",
    "delegation.maxChildren",
    describeKey(
      allowNone(integerFrom(1, 10_000)),
      "The maximum number of sub-agents that a run may start, including those that its sub-agents start.",
      DELEGATION.maxChildren,
    ),
    NONE_AS_NULL,
  ),
  defineField(
    "delegation.max_tree_turns",
    "delegation.maxTreeTurns",
    describeKey(
      allowNone(integerFrom(1)),
      "The maximum number of turns of a run and of all its sub-agents together; by default max_turns counts both.",
    ),
    NONE_AS_NULL,
  ),
];

function parseCacheParts(value: unknown): unknown {
  const parts = CacheParts.safeParse(value);
  if (!parts.success) return value;
  const { cache_system, cache_tools, cache_messages } = parts.data;
  return { cacheSystem: cache_system, cacheTools: cache_tools, cacheMessages: cache_messages };
}

function formatCacheParts(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { cacheSystem, cacheTools, cacheMessages } = value as Record<string, unknown>;
  return { cache_system: cacheSystem, cache_tools: cacheTools, cache_messages: cacheMessages };
}
