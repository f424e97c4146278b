import { estimateMessage } from "../../core/view/estimate.ts";
import type { Entry } from "../../schema/record.ts";
import { isKeptForPeople } from "../seen-messages.ts";
import { shownMessage } from "./clip.ts";
import { mostChars } from "./least.ts";
import { pairUp } from "./pairs.ts";
import { isText, type Plan, type Section, type TextForm, tokensOf, unansweredTokens } from "./plan.ts";
import { removedText, standIn } from "./stand-in.ts";
import { turnsOf } from "./turns.ts";
import { wordsToAnswer, workIn } from "./work.ts";

// A view as an application wants it: what its strategy has said is checked, and counted anew.
//
// Invariants, of a plan that is taken
//   C1. Each entry that was given is in exactly one section; sections are in order and do not overlap.
//   C2. An answer and the results of its calls are in one section.
//   C3. The sections together have at most the budget, and a text at most its own.
//   C4. An entry that was not given is in no section that is shown: a section is divided at a hole in the positions.
//   C5. Words of people that the loop at work answers follow a text that stands for them (docs/loop.md, rule 1).

/** Entries from `from` up to, not including, `to`, and how a model is to see them. */
export type WantedSection = { readonly from: number; readonly to: number; readonly as: WantedForm };

export type WantedForm =
  | "whole"
  /** Tool results keep this many lines of each text. */
  | { readonly cut: number }
  /** One message of these words stands in for all entries. */
  | { readonly summary: string };

export type Bounds = {
  /** Tokens of all sections together. */
  readonly budget: number;
  /** Of one text. */
  readonly maxTextTokens: number;
};

/** A problem is a sentence without its subject: "leaves out the entry at 4". */
export type CheckedPlan = Plan;

/** A view has room for more, of turns that come later, before its oldest are joined. */
const MAX_SECTIONS = 32;

/** What a strategy is given: no entries that the machine keeps for people. */
export function entriesToPlan(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(({ message }) => !isKeptForPeople(message));
}

/**
 * A list without sections wants nothing shown: a line that counts what is gone stands for all entries, since no vendor
 * takes a request without a message (CTX-16).
 *
 * @param entries - As `entriesToPlan` gave them.
 */
export function checkPlan(
  wanted: readonly WantedSection[],
  entries: readonly Entry[],
  { budget, maxTextTokens }: Bounds,
): CheckedPlan {
  if (wanted.length === 0) return withinBudget(nothingShown(entries), entries, budget);
  const { joined } = pairUp(entries.map(({ message }) => message));
  const sections: Section[] = [];
  let at = 0;
  let behind = 0;
  for (const { from, to, as } of wanted) {
    const name = `the section from ${from} to ${to}`;
    if (from < behind || to <= from) return wrong(`${name} is empty, or overlaps the one before it`);
    const first = entries[at];
    if (first !== undefined && first.position < from) return wrong(leftOut(first));
    if (joined[at] === true) return wrong(`${name} begins between a call and its result`);
    const end = entries.findIndex(({ position }, index) => index >= at && position >= to);
    const own = entries.slice(at, end === -1 ? entries.length : end);
    if (own.length === 0) return wrong(`${name} holds no entry`);
    if (isText(as) && as.summary.trim() === "") return wrong(`${name} has a text without words`);
    const made = sectionsOf(own, as, turnStarts(entries));
    const tokens = tokensOf(made);
    if (isText(as) && tokens > maxTextTokens) {
      return wrong(
        `${name} has a text of ${tokens} tokens; ${maxTextTokens} are the most (maxSummaryTokens)`,
      );
    }
    sections.push(...made);
    at += own.length;
    behind = to;
  }
  const left = entries[at];
  if (left !== undefined) return wrong(leftOut(left));
  if (sections.length > MAX_SECTIONS)
    return wrong(`has ${sections.length} sections; ${MAX_SECTIONS} are the most`);
  return withinBudget(sections, entries, budget);
}

function nothingShown(entries: readonly Entry[]): readonly Section[] {
  return entries.length === 0
    ? []
    : sectionsOf(entries, { summary: removedText(entries.length) }, turnStarts(entries));
}

/** Words that the loop answers come on top of the texts that stand for them; they are cut where there is no room for them. */
function withinBudget(sections: readonly Section[], entries: readonly Entry[], budget: number): Plan {
  const words = wordsToAnswer(workIn(entries));
  const whole = sections.map((section) => withWords(section, words));
  if (tokensOf(whole) <= budget) return { ok: true, sections: whole };
  const cut = (wordChars: number) => sections.map((section) => withWords(section, words, wordChars));
  const chars = mostChars((limit) => tokensOf(cut(limit)) <= budget);
  if (chars !== undefined) return { ok: true, sections: cut(chars) };
  const tokens = tokensOf(sections);
  const more = tokensOf(whole) - tokens;
  const said = more === 0 ? "" : `, and words of people that the loop answers have ${more} more`;
  return wrong(`has ${tokens} tokens${said}; the budget is ${budget}`);
}

function withWords(section: Section, words: readonly Entry[], wordChars?: number): Section {
  const { from, to, as } = section;
  const own = words.filter(({ position }) => position >= from && position < to);
  const wordsFrom = own[0]?.position;
  if (!isText(as) || wordsFrom === undefined) return section;
  const limit = wordChars === undefined ? {} : { wordChars };
  const said = own.reduce((total, entry) => total + estimateMessage(shownMessage(entry, limit)), 0);
  const form: TextForm = { ...as, wordsFrom, ...limit };
  return { ...section, tokens: section.tokens + said, as: form };
}

function wrong(problem: string): CheckedPlan {
  return { ok: false, problem };
}

function leftOut({ position }: Entry): string {
  return `leaves out the entry at ${position}: let a text stand for what is not to be seen`;
}

function turnStarts(entries: readonly Entry[]): ReadonlySet<number> {
  return new Set(turnsOf(entries).flatMap((turn) => turn.entries[0]?.position ?? []));
}

/** One for a text; for what is shown, one for each run of positions without a hole. */
function sectionsOf(own: readonly Entry[], as: WantedForm, starts: ReadonlySet<number>): readonly Section[] {
  if (as !== "whole" && "summary" in as) {
    const { from, to, turns } = placeOf(own, starts);
    return [{ from, to, turns, tokens: estimateMessage(standIn(as.summary, 0)), as }];
  }
  return runsOf(own).map((run) => ({ ...placeOf(run, starts), tokens: shownTokens(run, as), as }));
}

function placeOf(entries: readonly Entry[], starts: ReadonlySet<number>) {
  const positions = entries.map(({ position }) => position);
  return {
    from: positions[0] ?? 0,
    to: (positions.at(-1) ?? 0) + 1,
    turns: positions.filter((position) => starts.has(position)).length,
  };
}

function runsOf(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const runs: Entry[][] = [];
  for (const entry of entries) {
    const last = runs.at(-1);
    if (last?.at(-1)?.position === entry.position - 1) last?.push(entry);
    else runs.push([entry]);
  }
  return runs;
}

function shownTokens(entries: readonly Entry[], as: Exclude<WantedForm, { summary: string }>): number {
  const form = as === "whole" ? {} : as;
  return entries.reduce(
    (total, entry) => total + estimateMessage(shownMessage(entry, form)),
    unansweredTokens({ id: undefined, entries }),
  );
}
