import type { Command } from "commander";
import type { FindOptions, JobSummary, StatusCode } from "../../client/index.ts";
import { STATUS_CODES } from "../../core/machine/status-code.ts";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { parseWholeNumber } from "./parse-number.ts";
import { UsageError } from "./usage-error.ts";

export type SessionFilterFlags = {
  readonly agent?: string;
  readonly model?: string;
  readonly status?: string;
  readonly since?: string;
  readonly until?: string;
  readonly costOver?: string;
  readonly limit: string;
};

/** Adds the options that select sessions. @param limit - The default of `--limit`. */
export function addSessionFilters(command: Command, limit: string): Command {
  return command
    .option("--agent <name>", "only sessions of this agent")
    .option("--model <id>", "only sessions of this model")
    .option("--status <status>", STATUS_CODES.join(", "))
    .option("--since <time>", "only sessions active since: 30m, 12h, 7d, or a date")
    .option("--until <time>", "only sessions active before this time")
    .option("--cost-over <usd>", "only sessions that cost more")
    .option("-n, --limit <n>", "the maximum number of results", limit);
}

export function parseSessionFilters({
  agent,
  model,
  status,
  since,
  until,
  costOver,
  limit,
}: SessionFilterFlags): FindOptions {
  return {
    limit: parseWholeNumber("--limit", limit),
    ...omitUndefined({ agent, model }),
    ...(status === undefined ? {} : { status: parseStatus(status) satisfies StatusCode }),
    ...(since === undefined ? {} : { since: parseTime("--since", since) }),
    ...(until === undefined ? {} : { until: parseTime("--until", until) }),
    ...(costOver === undefined ? {} : { costOver: parseAmount(costOver) }),
  };
}

/**
 * Returns whether a job was active in this time and cost more than this. An open job was active since any time, and before any
 * time after its start.
 */
export function matchesFilters(
  { startedAt, closedAt, costUsd }: Pick<JobSummary, "startedAt" | "closedAt" | "costUsd">,
  { since, until, costOver }: Pick<FindOptions, "since" | "until" | "costOver">,
): boolean {
  if (since !== undefined && closedAt !== undefined && closedAt < since) return false;
  if (until !== undefined && (closedAt ?? startedAt) >= until) return false;
  return costOver === undefined || (costUsd ?? 0) > costOver;
}

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Parses a time span before the present, or a date. */
function parseTime(flag: string, text: string): Date {
  const [, amount, unit] = /^(\d+)\s*([smhdw])$/.exec(text.trim()) ?? [];
  const timeMs =
    amount === undefined ? Date.parse(text) : Date.now() - Number(amount) * UNITS[unit as keyof typeof UNITS];
  if (Number.isFinite(timeMs)) return new Date(timeMs);
  throw new UsageError(`${flag} "${text}" must be a time such as 30m, 12h, 7d, or a date such as 2026-01-31`);
}

function parseAmount(text: string): number {
  const amount = Number(text);
  if (Number.isFinite(amount) && amount >= 0) return amount;
  throw new UsageError(`--cost-over "${text}" must be a number of dollars`);
}

export function parseStatus(text: string): StatusCode {
  const status = STATUS_CODES.find((one) => one === text);
  if (status !== undefined) return status;
  const near = findNearestName(text, STATUS_CODES);
  throw new UsageError(
    `--status "${text}" is not a status. ${near === undefined ? `Use one of ${STATUS_CODES.join(", ")}.` : `Did you mean "${near}"?`}`,
  );
}
