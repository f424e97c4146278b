import { z } from "zod";

// The limits of a loop and of a sub-agent. What else has limits builds them from the same values.

const limitValue = z.number().int().positive().nullable();

/** The limits that sub-agents and jobs share. `null` disables one. core/budget/limits.ts says what each is compared with. */
export const SharedLimitValues = {
  maxTurns: limitValue.describe("The maximum of turns of a loop; `null` for no limit."),
  maxTotalTokens: limitValue.describe(
    "The maximum of input and output tokens of all turns together; `null` for no limit.",
  ),
  maxDurationMs: limitValue.describe(
    "The longest duration of a loop, in milliseconds; `null` for no limit. `approvals.countsAsDuration` says whether waits for a user count.",
  ),
  maxCostUsd: z
    .number()
    .positive()
    .nullable()
    .describe(
      "The highest cost in dollars; `null` for no limit. Rejected when the price of a model, a fallback or a sub-agent is unknown.",
    ),
};

export type SharedLimits = z.infer<z.ZodObject<typeof SharedLimitValues>>;

/** Every limit of a loop. */
const LimitValues = {
  ...SharedLimitValues,
  maxToolCalls: limitValue.describe(
    "The maximum of tool calls in a loop, also denied ones; `null` for no limit. Those of its sub-agents do not count.",
  ),
};

/** Builds limits with these defaults; a limit without a default is disabled. */
export function buildLimits<Values extends Readonly<Record<string, z.ZodNullable<z.ZodNumber>>>>(
  values: Values,
  defaults: { readonly [Name in keyof Values]?: number } = {},
) {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    value.default(defaults[name as keyof Values] ?? null),
  ]);
  return z.strictObject(
    Object.fromEntries(entries) as {
      [Name in keyof Values]: z.ZodDefault<Values[Name]>;
    },
  );
}

const DEFAULT_LIMITS = { maxTurns: 50, maxTotalTokens: 1_000_000, maxDurationMs: 600_000 };

/** The limits at which a run ends with a message. Defaults: LIM-01. */
export const Limits = buildLimits(LimitValues, DEFAULT_LIMITS);
export type Limits = z.infer<typeof Limits>;

/** The limits of a sub-agent. `null` disables one; what its parent has left always applies too. Defaults: SUB-03. */
export const SubAgentLimits = buildLimits(LimitValues, {
  ...DEFAULT_LIMITS,
  maxTurns: 10,
  maxDurationMs: 300_000,
});
export type SubAgentLimits = z.infer<typeof SubAgentLimits>;

/** Limits that replace the definition's for one loop; omitted ones stay. */
export const LoopLimits = z.strictObject(LimitValues).partial();
