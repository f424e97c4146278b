import type { Outcome } from "../../client/index.ts";
import type { RunSummary } from "../../client/runs/run-summary.ts";
import { UNKNOWN_COST } from "../../core/budget/limits.ts";
import { truncateText } from "../../platform/text/truncate-text.ts";
import { stripControls } from "./palette.ts";

/** The names of arguments that summarise a call best, in order of preference. */
const SUMMARY_ARGUMENTS = ["command", "path", "pattern", "query", "url", "task", "prompt"] as const;

const MAX_SUMMARY_CHARS = 120;

/** Summarises a call's arguments on one line. */
export function summarizeCall(args: unknown): string {
  const argument =
    typeof args === "object" && args !== null
      ? SUMMARY_ARGUMENTS.map((name) => (args as Record<string, unknown>)[name]).find(
          (value) => typeof value === "string",
        )
      : undefined;
  const text = (argument as string | undefined) ?? (args === undefined ? "" : (JSON.stringify(args) ?? ""));
  return shortenText(text, MAX_SUMMARY_CHARS);
}

export function shortenText(text: string, maxChars: number): string {
  return truncateText(stripControls(text).replace(/\s+/g, " ").trim(), maxChars);
}

/** Describes how a run ended. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.type) {
    case "answered":
      return outcome.stopReason === "stop" ? "answered" : `answered (${outcome.stopReason})`;
    case "limit-reached":
      return `limit reached: ${outcome.reason}`;
    case "failed":
      return `failed: ${outcome.fault}: ${outcome.message}`;
    case "stopped":
      return `stopped: ${outcome.reason}`;
    case "rejected":
      return outcome.by === undefined
        ? `rejected: ${outcome.reason}`
        : `rejected by hook ${outcome.by}: ${outcome.reason}`;
    case "ended":
      return `ended by hook ${outcome.by}: ${outcome.reason}`;
    case "paused":
      return `paused by ${outcome.by}: ${outcome.reason}`;
    case "handoff":
      return `handed over by ${outcome.by}: ${outcome.reason}`;
    case "delivered":
      return `${outcome.messages} message${outcome.messages === 1 ? "" : "s"} left in the inbox`;
  }
}

/** Formats a cost in dollars; an unknown cost is a dash, never a number. */
export function describeCost(costUsd: number | null): string {
  if (costUsd === null) return UNKNOWN_COST;
  return `$${costUsd.toFixed(costUsd > 0 && costUsd < 0.01 ? 5 : 2)}`;
}

/** What a run has used, as `readRunSummary` returns it. */
type Totals = Partial<Pick<RunSummary, "turns" | "usage" | "costUsd" | "durationMs">>;

/** Describes what a run has used, on one line. */
export function describeTotals({ turns = 0, usage, costUsd = null, durationMs }: Totals): string {
  return [
    formatCount(turns, "turn"),
    ...(usage === undefined ? [] : [formatCount(usage.totalTokens, "token")]),
    describeCost(costUsd),
    ...(durationMs === undefined ? [] : [formatElapsed(durationMs)]),
  ].join(" · ");
}

/** Formats a measured time: tenths of seconds below a minute, otherwise its two largest units. */
function formatElapsed(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.round(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats a cost for a column of dollars. */
export function formatCostCell(costUsd: number | null): string {
  return costUsd === null ? UNKNOWN_COST : costUsd.toFixed(4);
}

export function formatCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** Formats a duration in its largest whole unit. */
export function formatDuration(ms: number): string {
  for (const [name, size] of UNITS) {
    const whole = Math.floor(ms / size);
    if (whole >= 1) return formatCount(whole, name);
  }
  return "less than a minute";
}
