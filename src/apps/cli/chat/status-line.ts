import type { Cost, PendingActivity } from "../../../client/index.ts";
import { describeCost } from "../text.ts";
import { type ChatWait, formatChatWait } from "./chat-wait.ts";

/** What the line below the editor displays. Absent fields are not known yet. */
export type ChatFacts = {
  /** The session's title, or the beginning of its id. */
  readonly session: string;
  readonly model?: string;
  /** The tokens of the newest request and its answer, or an estimate of them. */
  readonly contextTokens?: number;
  readonly contextWindow?: number;
  readonly costUsd?: Cost;
  readonly turns?: number;
  readonly pending: readonly PendingActivity[];
};

const SEPARATOR = " · ";

/**
 * Formats the facts on one line of at most `width` characters. Where there is no room for all of them, those that change
 * least leave first.
 */
export function formatStatusLine(facts: ChatFacts, wait: ChatWait, width: number, nowMs: number): string {
  const { session, model, costUsd, turns } = facts;
  const context = formatContext(facts);
  /** In the order of the line, each with the order in which it leaves. */
  const parts: { readonly text: string; readonly leaves: number }[] = [
    { text: formatChatWait(wait, nowMs), leaves: 9 },
    ...(model === undefined ? [] : [{ text: model, leaves: 3 }]),
    ...(context === undefined ? [] : [{ text: context, leaves: 5 }]),
    ...(costUsd === undefined
      ? []
      : [{ text: costUsd === null ? "cost unknown" : describeCost(costUsd), leaves: 4 }]),
    ...(turns === undefined ? [] : [{ text: `turn ${turns}`, leaves: 2 }]),
    { text: session, leaves: 1 },
  ];
  for (let remaining = parts; ; ) {
    const line = remaining.map(({ text }) => text).join(SEPARATOR);
    if (line.length <= width || remaining.length === 1) return line;
    const least = Math.min(...remaining.map(({ leaves }) => leaves));
    remaining = remaining.filter(({ leaves }) => leaves !== least);
  }
}

function formatContext({ contextTokens, contextWindow }: ChatFacts): string | undefined {
  if (contextTokens === undefined) return undefined;
  if (contextWindow === undefined) return `${formatTokens(contextTokens)} tokens`;
  const percent = Math.round((contextTokens / contextWindow) * 100);
  return `${formatTokens(contextTokens)}/${formatTokens(contextWindow)} (${percent}%)`;
}

/** Formats a number of tokens in at most four characters and a unit. */
export function formatTokens(tokens: number): string {
  if (tokens < 1_000) return String(tokens);
  if (tokens < 999_500) return `${shortenNumber(tokens / 1_000)}k`;
  return `${shortenNumber(tokens / 1_000_000)}M`;
}

function shortenNumber(number: number): string {
  return number < 9.95 ? number.toFixed(1).replace(/\.0$/, "") : number.toFixed(0);
}
