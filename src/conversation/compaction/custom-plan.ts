import { estimateMessage } from "../../core/view/estimate.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { WantedForm, WantedSection } from "../../schema/context.ts";
import type { Entry } from "../../schema/record.ts";
import { isForUsersOnly } from "../message-visibility.ts";
import { formatEntry } from "./clip.ts";
import { findCurrentWork, getMessagesToAnswer } from "./current-work.ts";
import { findMaxChars } from "./least-plan.ts";
import { pairResults } from "./pairs.ts";
import { buildPlaceholder, formatRemoved } from "./placeholder.ts";
import {
  estimateUnansweredTokens,
  isText,
  type Plan,
  type Section,
  sumSectionTokens,
  type TextForm,
} from "./plan.ts";
import { groupTurns } from "./turns.ts";

// A view as an application wants it: the result of its strategy is checked and counted again.
//
// Invariants of an accepted plan
//   C1. Each entry that was given is in exactly one section; sections are in order and do not overlap.
//   C2. An answer and the results of its calls are in one section.
//   C3. The sections together have at most the budget, and a text at most its own.
//   C4. An entry that was not given is in no visible section: a section is divided at a gap in the positions.
//   C5. User messages that the running loop answers follow a text that stands for them (docs/loop.md, rule 1).

export type PlanBounds = {
  /** The tokens of all sections together. */
  readonly budget: number;
  /** The tokens of one text. */
  readonly maxTextTokens: number;
};

/** A problem is a sentence without its subject: "leaves out the entry at 4". */
export type CheckedPlan = Plan;

/** A view has room for more sections, of later turns, before its oldest are joined. */
const MAX_SECTIONS = 32;

/** Returns the entries that a strategy receives: none that the machine stores for users. */
export function selectPlannableEntries(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(({ message }) => !isForUsersOnly(message));
}

/**
 * Checks a plan. An empty list of sections wants nothing visible: a line that counts the omitted entries stands for all
 * of them, because no vendor accepts a request without a message (CTX-16).
 *
 * @param entries - As `selectPlannableEntries` returned them.
 */
export function checkPlan(
  wanted: readonly WantedSection[],
  entries: readonly Entry[],
  { budget, maxTextTokens }: PlanBounds,
): CheckedPlan {
  if (wanted.length === 0) return fitBudget(hideAllEntries(entries), entries, budget);
  const { inseparable } = pairResults(entries.map(({ message }) => message));
  const sections: Section[] = [];
  let at = 0;
  let nextPosition = 0;
  for (const { from, to, form } of wanted) {
    const name = `the section from ${from} to ${to}`;
    if (from < nextPosition || to <= from)
      return rejectPlan(`${name} is empty, or overlaps the one before it`);
    const first = entries[at];
    if (first !== undefined && first.position < from) return rejectPlan(formatLeftOut(first));
    if (inseparable[at] === true) return rejectPlan(`${name} begins between a call and its result`);
    const end = entries.findIndex(({ position }, index) => index >= at && position >= to);
    const own = entries.slice(at, end === -1 ? entries.length : end);
    if (own.length === 0) return rejectPlan(`${name} holds no entry`);
    if (isText(form) && form.summary.trim() === "") return rejectPlan(`${name} has a blank text`);
    const made = buildSections(own, form, findTurnStarts(entries));
    const tokens = sumSectionTokens(made);
    if (isText(form) && tokens > maxTextTokens) {
      return rejectPlan(
        `${name} has a text of ${tokens} tokens; at most ${maxTextTokens} are allowed (maxSummaryTokens)`,
      );
    }
    sections.push(...made);
    at += own.length;
    nextPosition = to;
  }
  const left = entries[at];
  if (left !== undefined) return rejectPlan(formatLeftOut(left));
  if (sections.length > MAX_SECTIONS)
    return rejectPlan(`has ${sections.length} sections; at most ${MAX_SECTIONS} are allowed`);
  return fitBudget(sections, entries, budget);
}

function hideAllEntries(entries: readonly Entry[]): readonly Section[] {
  return entries.length === 0
    ? []
    : buildSections(entries, { summary: formatRemoved(entries.length) }, findTurnStarts(entries));
}

/** Adds the user messages that the loop answers after the texts for them, and cuts them where there is no room. */
function fitBudget(sections: readonly Section[], entries: readonly Entry[], budget: number): Plan {
  const userEntries = getMessagesToAnswer(findCurrentWork(entries));
  const whole = sections.map((section) => addUserText(section, userEntries));
  if (sumSectionTokens(whole) <= budget) return { ok: true, sections: whole };
  const cut = (wordChars: number) => sections.map((section) => addUserText(section, userEntries, wordChars));
  const chars = findMaxChars((limit) => sumSectionTokens(cut(limit)) <= budget);
  if (chars !== undefined) return { ok: true, sections: cut(chars) };
  const tokens = sumSectionTokens(sections);
  const more = sumSectionTokens(whole) - tokens;
  const suffix = more === 0 ? "" : `, and the user messages that the loop answers have ${more} more`;
  return rejectPlan(`has ${tokens} tokens${suffix}; the budget is ${budget}`);
}

function addUserText(section: Section, userEntries: readonly Entry[], wordChars?: number): Section {
  const { from, to, form: as } = section;
  const own = userEntries.filter(({ position }) => position >= from && position < to);
  const wordsFrom = own[0]?.position;
  if (!isText(as) || wordsFrom === undefined) return section;
  const limit = omitUndefined({ maxUserChars: wordChars });
  const userTokens = own.reduce((total, entry) => total + estimateMessage(formatEntry(entry, limit)), 0);
  const form: TextForm = { ...as, userTextFrom: wordsFrom, ...limit };
  return { ...section, tokens: section.tokens + userTokens, form };
}

function rejectPlan(problem: string): CheckedPlan {
  return { ok: false, problem };
}

function formatLeftOut({ position }: Entry): string {
  return `leaves out the entry at ${position}: cover entries that the model must not see with a text`;
}

function findTurnStarts(entries: readonly Entry[]): ReadonlySet<number> {
  return new Set(groupTurns(entries).flatMap((turn) => turn.entries[0]?.position ?? []));
}

/** Builds one section for a text, and otherwise one for each run of positions without a gap. */
function buildSections(
  own: readonly Entry[],
  form: WantedForm,
  starts: ReadonlySet<number>,
): readonly Section[] {
  if (form !== "whole" && "summary" in form) {
    const { from, to, turns } = findSectionBounds(own, starts);
    return [{ from, to, turns, tokens: estimateMessage(buildPlaceholder(form.summary, 0)), form }];
  }
  return groupRuns(own).map((run) => ({
    ...findSectionBounds(run, starts),
    tokens: countShownTokens(run, form),
    form,
  }));
}

function findSectionBounds(entries: readonly Entry[], starts: ReadonlySet<number>) {
  const positions = entries.map(({ position }) => position);
  return {
    from: positions[0] ?? 0,
    to: (positions.at(-1) ?? 0) + 1,
    turns: positions.filter((position) => starts.has(position)).length,
  };
}

function groupRuns(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const runs: Entry[][] = [];
  for (const entry of entries) {
    const last = runs.at(-1);
    if (last?.at(-1)?.position === entry.position - 1) last?.push(entry);
    else runs.push([entry]);
  }
  return runs;
}

function countShownTokens(entries: readonly Entry[], as: Exclude<WantedForm, { summary: string }>): number {
  const form = as === "whole" ? {} : as;
  return entries.reduce(
    (total, entry) => total + estimateMessage(formatEntry(entry, form)),
    estimateUnansweredTokens({ id: undefined, entries }),
  );
}
