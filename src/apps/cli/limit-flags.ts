import type { Command } from "commander";
import type { Limits } from "../../client/index.ts";
import { SharedLimitValues } from "../../schema/limits.ts";
import { parsePositiveNumber, parseWholeNumber } from "./parse-number.ts";

// The command-line options for limits of runs, jobs and evaluations.

export type LimitFlags = {
  readonly maxTurns?: string;
  readonly maxTokens?: string;
  readonly maxMinutes?: string;
  readonly maxCost?: string;
  readonly maxToolCalls?: string;
};

/** The limits for which an option was given. */
export type GivenLimits = { readonly [Name in keyof Limits]?: number };

const MINUTE_MS = 60_000;

type LimitFlagSpec = {
  /** The option's name in commander: camel case, without dashes. */
  readonly flag: keyof LimitFlags;
  readonly option: string;
  readonly argument: string;
  readonly help: string;
  /** The unit for display, and the conversion of a limit to it. */
  readonly unit: string;
  readonly toDisplayUnit: (limit: number) => number;
  readonly read: (option: string, typed: string) => number;
};

const returnUnchanged = (limit: number) => limit;

const FLAGS: { readonly [Name in keyof Limits]: LimitFlagSpec } = {
  maxTurns: {
    flag: "maxTurns",
    option: "--max-turns",
    argument: "<n>",
    help: "the maximum number of turns",
    unit: "turns",
    toDisplayUnit: returnUnchanged,
    read: parseWholeNumber,
  },
  maxTotalTokens: {
    flag: "maxTokens",
    option: "--max-tokens",
    argument: "<n>",
    help: "the maximum number of input and output tokens of all turns",
    unit: "tokens",
    toDisplayUnit: returnUnchanged,
    read: parseWholeNumber,
  },
  maxDurationMs: {
    flag: "maxMinutes",
    option: "--max-minutes",
    argument: "<n>",
    help: "the maximum duration in minutes",
    unit: "minutes",
    toDisplayUnit: (limit) => limit / MINUTE_MS,
    read: (option, typed) => Math.round(parsePositiveNumber(option, typed) * MINUTE_MS),
  },
  maxCostUsd: {
    flag: "maxCost",
    option: "--max-cost",
    argument: "<usd>",
    help: "the maximum cost in dollars",
    unit: "dollars",
    toDisplayUnit: returnUnchanged,
    read: parsePositiveNumber,
  },
  maxToolCalls: {
    flag: "maxToolCalls",
    option: "--max-tool-calls",
    argument: "<n>",
    help: "the maximum number of tool calls",
    unit: "tool calls",
    toDisplayUnit: returnUnchanged,
    read: parseWholeNumber,
  },
};
const ALL = Object.entries(FLAGS) as [keyof Limits, LimitFlagSpec][];

export const LIMIT_OPTIONS: readonly string[] = ALL.map(([, { option }]) => option);

export const LIMIT_FLAG_NAMES: readonly (keyof LimitFlags)[] = ALL.map(([, { flag }]) => flag);

export function addLimitOptions(command: Command): Command {
  return addOptions(command, ALL);
}

/** Adds the options for what several agents share. */
export function addSharedLimitOptions(command: Command): Command {
  return addOptions(
    command,
    ALL.filter(([name]) => name in SharedLimitValues),
  );
}

function addOptions(command: Command, specs: typeof ALL): Command {
  for (const [, { option, argument, help }] of specs) command.option(`${option} ${argument}`, help);
  return command;
}

export function parseLimits(flags: LimitFlags): GivenLimits {
  return Object.fromEntries(
    ALL.flatMap(([name, { flag, option, read }]) => {
      const typed = flags[flag];
      return typed === undefined ? [] : [[name, read(option, typed)]];
    }),
  );
}

/** Formats limits for display. */
export function formatLimits(limits: Limits): string {
  return ALL.map(([name, { unit, toDisplayUnit: shown }]) => {
    const limit = limits[name];
    return `${unit} ${limit === null ? "unlimited" : shown(limit)}`;
  }).join(", ");
}
