import type { Command } from "commander";
import type { Limits } from "../../client/index.ts";
import { positive, wholeNumber } from "./agent-flags.ts";

// Limits as they are typed, for whatever runs.

export type LimitFlags = {
  readonly maxTurns?: string;
  readonly maxTokens?: string;
  readonly maxMinutes?: string;
  readonly maxCost?: string;
};

/** Those that were named. */
export type NamedLimits = { readonly [Name in keyof Limits]?: number };

const MINUTE_MS = 60_000;

type LimitFlag = {
  /** As commander names it, of the option without its dashes. */
  readonly flag: keyof LimitFlags;
  readonly option: string;
  readonly argument: string;
  readonly help: string;
  /** What people call the amount, and how many of it a limit is. */
  readonly unit: string;
  readonly shown: (limit: number) => number;
  readonly read: (option: string, typed: string) => number;
};

const unchanged = (limit: number) => limit;

const FLAGS: { readonly [Name in keyof Limits]: LimitFlag } = {
  maxTurns: {
    flag: "maxTurns",
    option: "--max-turns",
    argument: "<n>",
    help: "answers of the model",
    unit: "turns",
    shown: unchanged,
    read: wholeNumber,
  },
  maxTotalTokens: {
    flag: "maxTokens",
    option: "--max-tokens",
    argument: "<n>",
    help: "tokens in and out, of all turns together",
    unit: "tokens",
    shown: unchanged,
    read: wholeNumber,
  },
  maxDurationMs: {
    flag: "maxMinutes",
    option: "--max-minutes",
    argument: "<n>",
    help: "time",
    unit: "minutes",
    shown: (limit) => limit / MINUTE_MS,
    read: (option, typed) => Math.round(positive(option, typed) * MINUTE_MS),
  },
  maxCostUsd: {
    flag: "maxCost",
    option: "--max-cost",
    argument: "<usd>",
    help: "dollars",
    unit: "dollars",
    shown: unchanged,
    read: positive,
  },
};
const ALL = Object.entries(FLAGS) as [keyof Limits, LimitFlag][];

export const LIMIT_OPTIONS: readonly string[] = ALL.map(([, { option }]) => option);

export function limitOptions(command: Command): Command {
  for (const [, { option, argument, help }] of ALL) command.option(`${option} ${argument}`, help);
  return command;
}

export function limitsFrom(flags: LimitFlags): NamedLimits {
  return Object.fromEntries(
    ALL.flatMap(([name, { flag, option, read }]) => {
      const typed = flags[flag];
      return typed === undefined ? [] : [[name, read(option, typed)]];
    }),
  );
}

/** For people. */
export function limitWords(limits: Limits): string {
  return ALL.map(([name, { unit, shown }]) => {
    const limit = limits[name];
    return `${unit} ${limit === null ? "without" : shown(limit)}`;
  }).join(", ");
}
