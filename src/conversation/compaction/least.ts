import type { AgentMessage } from "../../schema/message.ts";
import type { Entry } from "../../schema/record.ts";
import { clipText, isWordsOfPeople, MIN_CLIPPED_CHARS, messageText } from "./clip.ts";
import { cutTo, entriesIn, type Plan, type Section, type Sections, tokensOf } from "./plan.ts";
import { removedText } from "./stand-in.ts";
import type { Turn } from "./turns.ts";
import { type Work, wordsToAnswer } from "./work.ts";

// How the newest turns give way when nothing older is left to leave out: results that the model has not read share what
// room there is, then words of people are cut in the middle, and at last the answer before them becomes a text.

/** The least part of the budget that results which nobody has read are left, before anything else gives way for them. */
const UNREAD_SHARE = 0.25;

/** The most of the budget that words of people take once they must be cut: the rest is for the work. */
const WORDS_SHARE = 0.5;

const MAX_CHARS = 1 << 26;

/**
 * The turns that the model has not read, with their results cut to one length for all, so that they and the sections
 * before them fit; short results stay whole. Nothing where that leaves the results too little.
 */
export function withUnread(
  plan: Sections,
  before: readonly Section[],
  unread: readonly Turn[],
  budget: number,
  { wordChars, share = UNREAD_SHARE }: { readonly wordChars?: number; readonly share?: number } = {},
): readonly Section[] | undefined {
  const words = wordChars === undefined ? {} : { wordChars };
  const shown = (chars?: number) => [
    ...before,
    ...plan.shown(
      unread,
      chars === undefined && wordChars === undefined
        ? "whole"
        : { ...(chars === undefined ? {} : { chars }), ...words },
    ),
  ];
  const whole = shown();
  if (tokensOf(whole) <= budget) return whole;
  const room = budget - tokensOf(before);
  const hasResults = unread.some(({ entries }) =>
    entries.some(({ message }) => message.role === "toolResult"),
  );
  if (!hasResults || room < share * budget) return undefined;
  const chars = mostChars((limit) => tokensOf(shown(limit)) <= budget);
  return chars === undefined ? undefined : shown(chars);
}

/** The largest length that fits, or nothing. What fits grows with the length, give or take the edge of a character. */
export function mostChars(fits: (chars: number) => boolean): number | undefined {
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
export function leastPlan(plan: Sections, work: Work, budget: number, lines: number): Plan {
  const { older, turns, unread } = work;
  const all = [...older.flat(), ...turns];
  const words = wordsToAnswer(work);
  const wordsFrom = words[0]?.position;
  const newest = newestThatFit(plan, all, { budget, lines, unread, wordsFrom });
  if (newest !== undefined) return { ok: true, sections: newest };
  const hidden = all.slice(0, all.length - unread);
  const tail = all.slice(all.length - unread);
  for (const share of [UNREAD_SHARE, 0]) {
    const whole = withUnread(plan, marker(plan, hidden, wordsFrom), tail, budget, { share });
    if (whole !== undefined) return { ok: true, sections: whole };
    const wordChars = charsForWords(plan, words, budget);
    const cut = withUnread(plan, marker(plan, hidden, wordsFrom, wordChars), tail, budget, {
      wordChars,
      share,
    });
    if (cut !== undefined) return { ok: true, sections: cut };
  }
  return (
    asOneText(plan, hidden, tail, words, budget) ?? { ok: false, problem: tooLittle(plan, words, budget) }
  );
}

function marker(plan: Sections, hidden: readonly Turn[], wordsFrom?: number, wordChars?: number) {
  return plan.text(hidden, removedText(entriesIn(hidden)), {
    ...(wordsFrom === undefined ? {} : { wordsFrom }),
    ...(wordChars === undefined ? {} : { wordChars }),
  });
}

/** CTX-14: the newest turns that fit behind a marker, results that were read cut to lines. */
function newestThatFit(
  plan: Sections,
  turns: readonly Turn[],
  {
    budget,
    lines,
    unread,
    wordsFrom,
  }: {
    readonly budget: number;
    readonly lines: number;
    readonly unread: number;
    readonly wordsFrom: number | undefined;
  },
): readonly Section[] | undefined {
  const tail = turns.slice(turns.length - unread);
  let best: readonly Section[] | undefined;
  for (let first = turns.length - unread; first >= 0; first--) {
    const before = [
      ...marker(plan, turns.slice(0, first), wordsFrom),
      ...plan.shown(turns.slice(first, turns.length - unread), cutTo(lines)),
    ];
    const sections = withUnread(plan, before, tail, budget, { share: 1 });
    if (sections === undefined || tokensOf(sections) > budget) break;
    best = sections;
  }
  return best;
}

/** The length to which words are cut so that they take half of the budget; the least one where that is not possible. */
function charsForWords(plan: Sections, words: readonly Entry[], budget: number): number {
  const most = Math.floor(budget * WORDS_SHARE);
  const cost = (wordChars: number) =>
    words.reduce((sum, entry) => sum + plan.entryTokens(entry, { wordChars }), 0);
  return mostChars((chars) => cost(chars) <= most) ?? MIN_CLIPPED_CHARS;
}

/** The answer is too long to be shown beside its results: one text says what it was, and what it was given. */
function asOneText(
  plan: Sections,
  hidden: readonly Turn[],
  tail: readonly Turn[],
  words: readonly Entry[],
  budget: number,
): Plan | undefined {
  const turns = [...hidden, ...tail];
  const wordsFrom = words[0]?.position;
  for (const wordChars of [undefined, charsForWords(plan, words, budget)]) {
    const made = (chars: number) =>
      plan.text(turns, textOfTurns(entriesIn(hidden), tail, chars), {
        ...(wordsFrom === undefined ? {} : { wordsFrom }),
        ...(wordChars === undefined ? {} : { wordChars }),
        chars,
      });
    const chars = mostChars((limit) => tokensOf(made(limit)) <= budget);
    if (chars !== undefined) return { ok: true, sections: made(chars) };
  }
  return undefined;
}

function textOfTurns(removed: number, turns: readonly Turn[], chars: number): string {
  const before = removed === 0 ? [] : [removedText(removed)];
  const parts = turns.flatMap(({ entries }) =>
    entries.flatMap((entry) => (isWordsOfPeople(entry) ? [] : retold(entry, chars))),
  );
  const all = [...before, ...parts];
  return all.length === 0 ? removedText(entriesIn(turns)) : all.join("\n\n");
}

function retold({ message, position }: Entry, chars: number): readonly string[] {
  if (message.role === "extension") return [];
  const text = clipText(fullText(message), chars, position);
  return [message.role === "toolResult" ? `[Result of ${message.toolName}] ${text}` : text];
}

/** The text of a message as `read_full_message` counts it: of an answer, its calls too. */
export function fullText(message: Exclude<AgentMessage, { role: "extension" }>): string {
  if (message.role !== "assistant") return messageText(message);
  const said = messageText(message);
  const calls = message.content.flatMap((part) =>
    part.type === "toolCall" ? [`[Called ${part.name}] ${JSON.stringify(part.arguments)}`] : [],
  );
  return [`[Your answer]${said === "" ? "" : ` ${said}`}`, ...calls].join("\n");
}

function tooLittle(plan: Sections, words: readonly Entry[], budget: number): string {
  const tokens = words.reduce((sum, entry) => sum + plan.entryTokens(entry, "whole"), 0);
  const messages = words.length === 1 ? "1 message" : `${words.length} messages`;
  return `The words of people that this loop answers (${messages}, ${tokens} tokens) and what the model has not read yet do not fit into ${budget} tokens, not even cut to their beginnings and ends`;
}
