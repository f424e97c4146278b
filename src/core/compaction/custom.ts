import type { Entry } from "../../schema/record.ts";
import { estimateMessage } from "../estimate.ts";
import { isKeptForPeople } from "../seen-messages.ts";
import { type Section, type SectionForm, unansweredTokens } from "./block.ts";
import { cutToolResult } from "./cut-text.ts";
import { pairUp } from "./pairs.ts";
import { removedText, standIn } from "./stand-in.ts";
import { turnsOf } from "./turns.ts";

// A view as an application wants it: what its strategy has said is checked, and counted anew.
//
// Invariants, of a plan that is taken
//   C1. Each entry that was given is in exactly one section; sections are in order and do not overlap.
//   C2. An answer and the results of its calls are in one section.
//   C3. The sections together have at most the budget, and a text at most its own.
//   C4. An entry that was not given is in no section that is shown: a section is divided at a hole in the positions.

/** Entries from `from` up to, not including, `to`, and how a model is to see them. */
export type WantedSection = { readonly from: number; readonly to: number; readonly as: SectionForm };

export type Bounds = {
  /** Tokens of all sections together. */
  readonly budget: number;
  /** Of one text. */
  readonly maxTextTokens: number;
};

export type CheckedPlan =
  | { readonly ok: true; readonly sections: readonly Section[] }
  /** What is wrong, as a sentence without its subject: "leaves out the entry at 4". */
  | { readonly ok: false; readonly problem: string };

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
  if (wanted.length === 0) return withinBudget(nothingShown(entries), budget);
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
    const tokens = sum(made);
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
  return withinBudget(sections, budget);
}

function nothingShown(entries: readonly Entry[]): readonly Section[] {
  return entries.length === 0
    ? []
    : sectionsOf(entries, { summary: removedText(entries.length) }, turnStarts(entries));
}

function withinBudget(sections: readonly Section[], budget: number): CheckedPlan {
  const tokens = sum(sections);
  if (tokens > budget) return wrong(`has ${tokens} tokens; the budget is ${budget}`);
  return { ok: true, sections };
}

function wrong(problem: string): CheckedPlan {
  return { ok: false, problem };
}

function leftOut({ position }: Entry): string {
  return `leaves out the entry at ${position}: let a text stand for what is not to be seen`;
}

function isText(as: SectionForm): as is { readonly summary: string } {
  return typeof as === "object" && "summary" in as;
}

function turnStarts(entries: readonly Entry[]): ReadonlySet<number> {
  return new Set(turnsOf(entries).flatMap((turn) => turn.entries[0]?.position ?? []));
}

/** One for a text; for what is shown, one for each run of positions without a hole. */
function sectionsOf(own: readonly Entry[], as: SectionForm, starts: ReadonlySet<number>): readonly Section[] {
  if (isText(as)) {
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

function shownTokens(entries: readonly Entry[], as: "whole" | { readonly cut: number }): number {
  const own = entries.map(({ message }) =>
    estimateMessage(as === "whole" ? message : cutToolResult(message, as.cut)),
  );
  return own.reduce((total, tokens) => total + tokens, unansweredTokens({ id: undefined, entries }));
}

function sum(sections: readonly Section[]): number {
  return sections.reduce((total, { tokens }) => total + tokens, 0);
}
