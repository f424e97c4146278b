import type { Command } from "commander";
import { positive, wholeNumber } from "./agent-flags.ts";

// Limits as they are typed, for whatever runs.

export type LimitFlags = {
  readonly maxTurns?: string;
  readonly maxTokens?: string;
  readonly maxMinutes?: string;
  readonly maxCost?: string;
};

/** Those that were named. */
export type NamedLimits = {
  readonly maxTurns?: number;
  readonly maxTotalTokens?: number;
  readonly maxDurationMs?: number;
  readonly maxCostUsd?: number;
};

export const MINUTE_MS = 60_000;

export function limitOptions(command: Command): Command {
  return command
    .option("--max-turns <n>", "answers of the model")
    .option("--max-tokens <n>", "tokens in and out, of all turns together")
    .option("--max-minutes <n>", "time")
    .option("--max-cost <usd>", "dollars");
}

export function limitsFrom({ maxTurns, maxTokens, maxMinutes, maxCost }: LimitFlags): NamedLimits {
  return {
    ...(maxTurns === undefined ? {} : { maxTurns: wholeNumber("--max-turns", maxTurns) }),
    ...(maxTokens === undefined ? {} : { maxTotalTokens: wholeNumber("--max-tokens", maxTokens) }),
    ...(maxMinutes === undefined
      ? {}
      : { maxDurationMs: Math.round(positive("--max-minutes", maxMinutes) * MINUTE_MS) }),
    ...(maxCost === undefined ? {} : { maxCostUsd: positive("--max-cost", maxCost) }),
  };
}
