import { z } from "zod";
import { DEFAULT_MAX_WAIT_MS } from "../../../core/machine/vendor-wait.ts";
import { Delegation, Limits, QueueMode, RetryConfig } from "../../../schema/definition.ts";
import { type Field, field, NULLABLE, orNone, SECONDS, said, wholeFrom } from "../field.ts";

// How long an agent may go on, and how it goes about it (CFG-23).

const LIMITS = Limits.parse({});
const RETRY = RetryConfig.parse({});
const DELEGATION = Delegation.parse({});

export type LimitDefaults = {
  readonly maxTurns: number | null;
  readonly maxTotalTokens: number | null;
  readonly maxDurationMs: number | null;
};

/** @param to - The limits' place in the definition. */
export function limitFields(at: string, to: string, defaults: LimitDefaults): readonly Field[] {
  const seconds = z.number().positive();
  const inSeconds = defaults.maxDurationMs === null ? "none" : defaults.maxDurationMs / 1000;
  const fields: { readonly [Name in keyof Limits]: Field } = {
    maxTurns: field(
      `${at}max_turns`,
      `${to}.maxTurns`,
      said(orNone(wholeFrom(1)), "Answers of the model.", defaults.maxTurns ?? "none"),
      NULLABLE,
    ),
    maxTotalTokens: field(
      `${at}max_total_tokens`,
      `${to}.maxTotalTokens`,
      said(
        orNone(wholeFrom(1)),
        "Input and output tokens of all turns together.",
        defaults.maxTotalTokens ?? "none",
      ),
      NULLABLE,
    ),
    maxDurationMs: field(
      `${at}max_duration_secs`,
      `${to}.maxDurationMs`,
      said(orNone(seconds), "Seconds; fractions go.", inSeconds),
      SECONDS,
    ),
    maxCostUsd: field(
      `${at}max_cost`,
      `${to}.maxCostUsd`,
      said(
        orNone(seconds),
        "Dollars. An error where the price of a model is unknown: see [provider.cost].",
        "none",
      ),
      NULLABLE,
    ),
  };
  return Object.values(fields);
}

const CacheParts = z.strictObject({
  cache_system: z.boolean(),
  cache_tools: z.boolean(),
  cache_messages: z.boolean(),
});

const queueMode = (what: string) =>
  said(QueueMode, `How ${what} are read, one a time or all at once.`, "one-at-a-time");

export const EXECUTION_FIELDS: readonly Field[] = [
  ...limitFields("execution.", "limits", LIMITS),
  field("execution.steering_mode", "steeringMode", queueMode("steering messages")),
  field("execution.follow_up_mode", "followUpMode", queueMode("follow-ups")),
  field(
    "execution.retry.max_retries",
    "retry.maxRetries",
    said(
      wholeFrom(0, 100),
      "How often a vendor that is slow, busy or unreachable is asked again; 0 for never.",
      RETRY.maxRetries,
    ),
  ),
  field(
    "execution.retry.initial_delay_ms",
    "retry.initialDelayMs",
    said(wholeFrom(1), "Before the first retry.", RETRY.initialDelayMs),
  ),
  field(
    "execution.retry.backoff_multiplier",
    "retry.backoffMultiplier",
    said(z.number().min(1), "Of one delay to the next.", RETRY.backoffMultiplier),
  ),
  field(
    "execution.retry.max_delay_ms",
    "retry.maxDelayMs",
    said(wholeFrom(1), "No delay is longer.", RETRY.maxDelayMs),
  ),
  field(
    "execution.retry.max_wait_ms",
    "retry.maxWaitMs",
    said(
      wholeFrom(1),
      "A vendor that asks for a longer pause is asked again after this.",
      DEFAULT_MAX_WAIT_MS,
    ),
  ),
  field(
    "execution.cache.enabled",
    "cache.enabled",
    said(z.boolean(), "Whether the vendor's prompt cache is used.", true),
  ),
  field(
    "execution.cache.strategy",
    "cache.strategy",
    said(z.union([z.enum(["auto", "disabled"]), CacheParts]), "What goes into the cache.", "auto"),
    { read: cacheParts, write: cacheTable },
  ),
  field(
    "delegation.max_depth",
    "delegation.maxDepth",
    said(
      wholeFrom(1, 10),
      "Sub-agents below each other; at 1 a sub-agent has none of its own.",
      DELEGATION.maxDepth,
    ),
  ),
  field(
    "delegation.max_children",
    "delegation.maxChildren",
    said(
      orNone(wholeFrom(1, 10_000)),
      "Sub-agents that a run may start, with all that those start.",
      DELEGATION.maxChildren,
    ),
    NULLABLE,
  ),
];

function cacheParts(value: unknown): unknown {
  const parts = CacheParts.safeParse(value);
  if (!parts.success) return value;
  const { cache_system, cache_tools, cache_messages } = parts.data;
  return { cacheSystem: cache_system, cacheTools: cache_tools, cacheMessages: cache_messages };
}

function cacheTable(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { cacheSystem, cacheTools, cacheMessages } = value as Record<string, unknown>;
  return { cache_system: cacheSystem, cache_tools: cacheTools, cache_messages: cacheMessages };
}
