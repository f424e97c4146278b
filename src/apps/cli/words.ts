import type { AgentMessage, Outcome } from "../../client/index.ts";
import { UNKNOWN_COST } from "../../core/budget/limits.ts";
import { printable } from "./palette.ts";

/** The text of a message, without thinking, calls and images. */
export function textOf(message: AgentMessage): string {
  if (message.role === "extension") return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** The arguments that say most about a call, by name. */
const TELLING = ["command", "path", "pattern", "query", "url", "task", "prompt"] as const;

const MAX_SUMMARY_CHARS = 120;

/** What a call is about, on one line. */
export function callSummary(args: unknown): string {
  const named =
    typeof args === "object" && args !== null
      ? TELLING.map((name) => (args as Record<string, unknown>)[name]).find(
          (value) => typeof value === "string",
        )
      : undefined;
  const text = (named as string | undefined) ?? (args === undefined ? "" : (JSON.stringify(args) ?? ""));
  return shortened(text, MAX_SUMMARY_CHARS);
}

export function shortened(text: string, maxChars: number): string {
  const line = printable(text).replace(/\s+/g, " ").trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1)}…`;
}

/** How a run ended, in a few words. */
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
    case "delivered":
      return `${outcome.messages} message${outcome.messages === 1 ? "" : "s"} left in the inbox`;
  }
}

/** An unknown cost is a dash, never a number. */
export function describeCost(costUsd: number | null): string {
  if (costUsd === null) return UNKNOWN_COST;
  return `$${costUsd.toFixed(costUsd > 0 && costUsd < 0.01 ? 5 : 2)}`;
}

/** For a column of dollars. */
export function costCell(costUsd: number | null): string {
  return costUsd === null ? UNKNOWN_COST : costUsd.toFixed(4);
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
