import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { Entry } from "../../schema/record.ts";
import { clipText, getMessageText, isUserText, MIN_CLIPPED_CHARS } from "./clip.ts";
import { type CurrentWork, getMessagesToAnswer } from "./current-work.ts";
import { formatRemoved } from "./placeholder.ts";
import {
  countEntries,
  limitLines,
  type Plan,
  type Section,
  type SectionBuilder,
  sumSectionTokens,
} from "./plan.ts";
import type { Turn } from "./turns.ts";

// How the newest turns are reduced when nothing older is left to omit: results that the model has not read share the
// remaining room, then user messages are cut in the middle, and finally the answer before the results becomes a text.

/** The smallest part of the budget for results that no answer has read, before anything else is reduced for them. */
const UNREAD_SHARE = 0.25;

/** The largest part of the budget for user messages when they must be cut: the rest is for the work. */
const USER_TEXT_SHARE = 0.5;

const MAX_CHARS = 1 << 26;

/**
 * Adds the turns that the model has not read, with their results cut to one common length, so that they and the earlier
 * sections fit; short results stay whole. Returns nothing when that leaves too little of the results.
 */
export function addUnreadTurns(
  plan: SectionBuilder,
  before: readonly Section[],
  unread: readonly Turn[],
  budget: number,
  { wordChars, share = UNREAD_SHARE }: { readonly wordChars?: number; readonly share?: number } = {},
): readonly Section[] | undefined {
  const textLimit = omitUndefined({ maxUserChars: wordChars });
  const shown = (chars?: number) => [
    ...before,
    ...plan.buildEntrySections(
      unread,
      chars === undefined && wordChars === undefined
        ? "whole"
        : { ...omitUndefined({ maxChars: chars }), ...textLimit },
    ),
  ];
  const whole = shown();
  if (sumSectionTokens(whole) <= budget) return whole;
  const room = budget - sumSectionTokens(before);
  const hasResults = unread.some(({ entries }) =>
    entries.some(({ message }) => message.role === "toolResult"),
  );
  if (!hasResults || room < share * budget) return undefined;
  const chars = findMaxChars((limit) => sumSectionTokens(shown(limit)) <= budget);
  return chars === undefined ? undefined : shown(chars);
}

/** Finds the largest length that fits, or nothing. The size grows with the length, except at character boundaries. */
export function findMaxChars(fits: (chars: number) => boolean): number | undefined {
  let low = MIN_CLIPPED_CHARS;
  if (!fits(low)) return undefined;
  let high = MAX_CHARS;
  while (high - low > Math.max(1, low / 64)) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Plans the smallest possible view: a marker in place of everything older, the user messages that the loop answers, and
 * what the model has not read.
 */
export function planLeast(plan: SectionBuilder, work: CurrentWork, budget: number, lines: number): Plan {
  const { older, turns, unreadCount } = work;
  const all = [...older.flat(), ...turns];
  const userEntries = getMessagesToAnswer(work);
  const wordsFrom = userEntries[0]?.position;
  const newest = planNewestTurns(plan, all, { budget, lines, unreadCount, wordsFrom });
  if (newest !== undefined) return { ok: true, sections: newest };
  const hidden = all.slice(0, all.length - unreadCount);
  const tail = all.slice(all.length - unreadCount);
  for (const share of [UNREAD_SHARE, 0]) {
    const whole = addUnreadTurns(plan, buildMarker(plan, hidden, wordsFrom), tail, budget, { share });
    if (whole !== undefined) return { ok: true, sections: whole };
    const wordChars = computeUserTextChars(plan, userEntries, budget);
    const cut = addUnreadTurns(plan, buildMarker(plan, hidden, wordsFrom, wordChars), tail, budget, {
      wordChars,
      share,
    });
    if (cut !== undefined) return { ok: true, sections: cut };
  }
  return (
    planAsOneText(plan, hidden, tail, userEntries, budget) ?? {
      ok: false,
      problem: formatTooLittle(plan, userEntries, budget),
    }
  );
}

function buildMarker(plan: SectionBuilder, hidden: readonly Turn[], wordsFrom?: number, wordChars?: number) {
  return plan.buildTextSection(hidden, formatRemoved(countEntries(hidden)), {
    ...omitUndefined({ userTextFrom: wordsFrom, maxUserChars: wordChars }),
  });
}

/** Plans the newest turns that fit after a marker, with results that were read cut to lines (CTX-14). */
function planNewestTurns(
  plan: SectionBuilder,
  turns: readonly Turn[],
  {
    budget,
    lines,
    unreadCount,
    wordsFrom,
  }: {
    readonly budget: number;
    readonly lines: number;
    readonly unreadCount: number;
    readonly wordsFrom: number | undefined;
  },
): readonly Section[] | undefined {
  const tail = turns.slice(turns.length - unreadCount);
  let best: readonly Section[] | undefined;
  for (let first = turns.length - unreadCount; first >= 0; first--) {
    const before = [
      ...buildMarker(plan, turns.slice(0, first), wordsFrom),
      ...plan.buildEntrySections(turns.slice(first, turns.length - unreadCount), limitLines(lines)),
    ];
    const sections = addUnreadTurns(plan, before, tail, budget, { share: 1 });
    if (sections === undefined || sumSectionTokens(sections) > budget) break;
    best = sections;
  }
  return best;
}

/** Computes the length of user messages so that they take half of the budget, or the minimum if that is impossible. */
function computeUserTextChars(plan: SectionBuilder, userEntries: readonly Entry[], budget: number): number {
  const most = Math.floor(budget * USER_TEXT_SHARE);
  const cost = (wordChars: number) =>
    userEntries.reduce((sum, entry) => sum + plan.countEntryTokens(entry, { maxUserChars: wordChars }), 0);
  return findMaxChars((chars) => cost(chars) <= most) ?? MIN_CLIPPED_CHARS;
}

/** Plans one text for an answer that is too long to appear beside its results: what it was, and what it received. */
function planAsOneText(
  plan: SectionBuilder,
  hidden: readonly Turn[],
  tail: readonly Turn[],
  userEntries: readonly Entry[],
  budget: number,
): Plan | undefined {
  const turns = [...hidden, ...tail];
  const wordsFrom = userEntries[0]?.position;
  for (const wordChars of [undefined, computeUserTextChars(plan, userEntries, budget)]) {
    const made = (chars: number) =>
      plan.buildTextSection(turns, formatTurns(countEntries(hidden), tail, chars), {
        ...omitUndefined({ userTextFrom: wordsFrom, maxUserChars: wordChars }),
        maxChars: chars,
      });
    const chars = findMaxChars((limit) => sumSectionTokens(made(limit)) <= budget);
    if (chars !== undefined) return { ok: true, sections: made(chars) };
  }
  return undefined;
}

function formatTurns(removed: number, turns: readonly Turn[], chars: number): string {
  const before = removed === 0 ? [] : [formatRemoved(removed)];
  const parts = turns.flatMap(({ entries }) =>
    entries.flatMap((entry) => (isUserText(entry) ? [] : formatEntryLines(entry, chars))),
  );
  const all = [...before, ...parts];
  return all.length === 0 ? formatRemoved(countEntries(turns)) : all.join("\n\n");
}

function formatEntryLines({ message, position }: Entry, chars: number): readonly string[] {
  if (message.role === "extension") return [];
  const text = clipText(getFullText(message), chars, position);
  return [message.role === "toolResult" ? `[Result of ${message.toolName}] ${text}` : text];
}

/** Returns the text of a message as `read_full_message` counts it: for an answer, including its calls. */
export function getFullText(message: Exclude<AgentMessage, { role: "extension" }>): string {
  if (message.role !== "assistant") return getMessageText(message);
  const text = getMessageText(message);
  const calls = message.content.flatMap((part) =>
    part.type === "toolCall" ? [`[Called ${part.name}] ${JSON.stringify(part.arguments)}`] : [],
  );
  return [`[Your answer]${text === "" ? "" : ` ${text}`}`, ...calls].join("\n");
}

function formatTooLittle(plan: SectionBuilder, userEntries: readonly Entry[], budget: number): string {
  const tokens = userEntries.reduce((sum, entry) => sum + plan.countEntryTokens(entry, "whole"), 0);
  const messages = userEntries.length === 1 ? "1 message" : `${userEntries.length} messages`;
  return `The user messages that this loop answers (${messages}, ${tokens} tokens) and what the model has not read yet do not fit into ${budget} tokens, not even cut to their beginnings and ends`;
}
