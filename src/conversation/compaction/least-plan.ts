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

// How the newest turns give way when nothing older is left to leave out: results that the model has not read share what
// room there is, then words of people are cut in the middle, and at last the answer before them becomes a text.

/** The least part of the budget that results which nobody has read are left, before anything else gives way for them. */
const UNREAD_SHARE = 0.25;

/** The most of the budget that words of people take once they must be cut: the rest is for the work. */
const USER_TEXT_SHARE = 0.5;

const MAX_CHARS = 1 << 26;

/**
 * The turns that the model has not read, with their results cut to one length for all, so that they and the sections
 * before them fit; short results stay whole. Nothing where that leaves the results too little.
 */
export function addUnreadTurns(
  plan: SectionBuilder,
  before: readonly Section[],
  unread: readonly Turn[],
  budget: number,
  { wordChars, share = UNREAD_SHARE }: { readonly wordChars?: number; readonly share?: number } = {},
): readonly Section[] | undefined {
  const textLimit = wordChars === undefined ? {} : { wordChars };
  const shown = (chars?: number) => [
    ...before,
    ...plan.buildEntrySections(
      unread,
      chars === undefined && wordChars === undefined
        ? "whole"
        : { ...(chars === undefined ? {} : { chars }), ...textLimit },
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

/** The largest length that fits, or nothing. What fits grows with the length, give or take the edge of a character. */
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
 * The least that a view may be: a marker in place of all that is older, the words that the loop answers, and what the
 * model has not read yet.
 */
export function planLeast(plan: SectionBuilder, work: CurrentWork, budget: number, lines: number): Plan {
  const { older, turns, unread } = work;
  const all = [...older.flat(), ...turns];
  const userEntries = getMessagesToAnswer(work);
  const wordsFrom = userEntries[0]?.position;
  const newest = planNewestTurns(plan, all, { budget, lines, unread, wordsFrom });
  if (newest !== undefined) return { ok: true, sections: newest };
  const hidden = all.slice(0, all.length - unread);
  const tail = all.slice(all.length - unread);
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
    ...(wordsFrom === undefined ? {} : { wordsFrom }),
    ...(wordChars === undefined ? {} : { wordChars }),
  });
}

/** CTX-14: the newest turns that fit behind a marker, results that were read cut to lines. */
function planNewestTurns(
  plan: SectionBuilder,
  turns: readonly Turn[],
  {
    budget,
    lines,
    unread: unreadCount,
    wordsFrom,
  }: {
    readonly budget: number;
    readonly lines: number;
    readonly unread: number;
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

/** The length to which words are cut so that they take half of the budget; the least one where that is not possible. */
function computeUserTextChars(plan: SectionBuilder, userEntries: readonly Entry[], budget: number): number {
  const most = Math.floor(budget * USER_TEXT_SHARE);
  const cost = (wordChars: number) =>
    userEntries.reduce((sum, entry) => sum + plan.countEntryTokens(entry, { wordChars }), 0);
  return findMaxChars((chars) => cost(chars) <= most) ?? MIN_CLIPPED_CHARS;
}

/** The answer is too long to be shown beside its results: one text says what it was, and what it was given. */
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
        ...(wordsFrom === undefined ? {} : { wordsFrom }),
        ...(wordChars === undefined ? {} : { wordChars }),
        chars,
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

/** The text of a message as `read_full_message` counts it: of an answer, its calls too. */
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
