import type { CompactionConfig } from "../../schema/context.ts";
import type { Entry } from "../../schema/record.ts";
import { estimateMessage, estimateText } from "../estimate.ts";
import { UNANSWERED_CALL } from "../orphans.ts";
import { COMPACTION_KIND } from "../seen-messages.ts";
import { cutToolResult } from "./cut-text.ts";
import { loopsInScope } from "./scope.ts";
import { removedText, standIn } from "./stand-in.ts";
import { summarise } from "./summary.ts";
import type { TokenCounter } from "./token-counter.ts";
import { loopsOf, positionsOfTurns, type Turn, turnsOf } from "./turns.ts";

// The default strategy for a session: a plan over entries that changes none of them. The newest loop keeps its first
// turns, a summary of its middle, and its last turns with their tool outputs cut; loops before it are summaries, older
// ones are left out (CMP-03, CMP-05, CMP-07).
//
// Invariants
//   B1. The tokens of the sections together are at most the budget, for any entries (CTX-15).
//   B2. Sections are in order of position and do not overlap (PHI-13g).
//   B3. An answer and the results of its calls are in one section, or in none.
//   B4. An entry that was not given is in no section that is shown: a section ends at a hole in the positions.

/** Entries from `from` up to, not including, `to`, and what a model sees of them. */
export type Section = {
  readonly from: number;
  readonly to: number;
  readonly turns: number;
  /** The estimate of what is seen. */
  readonly tokens: number;
  readonly as: SectionForm;
};

export type SectionForm =
  | "whole"
  /** Tool results keep this many lines of each text. */
  | { readonly cut: number }
  /** One message of these words stands in for all entries. */
  | { readonly summary: string };

export type BlockOptions = {
  /** For a scope by tokens (CMP-05). */
  readonly maxContextTokens: number;
  readonly count?: TokenCounter;
  /**
   * Words for turns that are not shown, in at most `maxTokens`; one line a turn when absent. No words, no section.
   *
   * A strategy that asks a model plans twice: once to learn which turns need words, and again with the words at hand.
   */
  readonly summarise?: (turns: readonly Turn[], maxTokens: number) => string;
};

/**
 * The sections that a compacted view has.
 *
 * Without a middle in the newest loop there is nothing to sum up, and it stays as it is. A plan over the budget
 * gives way in this order: fewer recent turns, fewer lines of the last one's tool outputs, and at last only the newest
 * turns that fit, behind a marker (CTX-14). A budget too small for the marker gives fewer sections, or none.
 */
export function planBlock(
  given: readonly Entry[],
  config: CompactionConfig,
  budget: number,
  options: BlockOptions,
): readonly Section[] {
  const count = options.count ?? estimateMessage;
  const plan: Planner = {
    count,
    config,
    summarise: options.summarise ?? ((turns, maxTokens) => summarise(turns, maxTokens, count)),
  };
  const entries = given.filter((entry) => !isCompaction(entry));
  const loops = loopsOf(turnsOf(entries));
  const newest = loops.at(-1) ?? [];
  const older = loops.slice(0, -1);
  const tokensOf = (turns: readonly Turn[]) => sum(turns.map((turn) => turnTokens(plan, turn, "whole")));
  const inScope = loopsInScope(config.scope, older.map(tokensOf), options.maxContextTokens);
  const earlier = older.slice(older.length - inScope);
  const summaries = earlier.flatMap((turns) => summarySection(plan, turns));
  for (const layout of layouts(config, newest.length)) {
    const sections = [...summaries, ...newestLoop(plan, newest, layout)];
    if (sum(sections.map(({ tokens }) => tokens)) <= budget) return sections;
  }
  return newestThatFit(plan, entries, [...earlier.flat(), ...newest], budget);
}

/** What an earlier compaction has put down is seen by no model, and in no section of this one. */
function isCompaction({ message }: Entry): boolean {
  return message.role === "extension" && message.kind === COMPACTION_KIND;
}

type Planner = {
  readonly count: TokenCounter;
  readonly config: CompactionConfig;
  readonly summarise: (turns: readonly Turn[], maxTokens: number) => string;
};

/** How the newest loop is divided: so many turns at its beginning, so many at its end, their tool outputs this long. */
type Layout = { readonly first: number; readonly recent: number; readonly lines: number };

function* layouts(config: CompactionConfig, turns: number): Generator<Layout> {
  const first = Math.min(config.keepFirstTurns, turns);
  const most = Math.min(config.keepRecentTurns, turns - first);
  const lines = config.toolOutputMaxLines;
  yield { first, recent: most, lines };
  for (let recent = most - 1; recent > 0; recent--) yield { first, recent, lines };
  for (const fewer of halvings(lines)) yield { first, recent: Math.min(1, most), lines: fewer };
}

/** 50 gives 25, 12, 6, 3, 1, 0. */
function halvings(lines: number): readonly number[] {
  const half = Math.floor(lines / 2);
  return lines === 0 ? [] : [half, ...halvings(half)];
}

function newestLoop(plan: Planner, turns: readonly Turn[], { first, recent, lines }: Layout): Section[] {
  const middle = turns.slice(first, turns.length - recent);
  if (middle.length === 0) return shownSections(plan, turns, "whole");
  return [
    ...shownSections(plan, turns.slice(0, first), "whole"),
    ...summarySection(plan, middle),
    ...shownSections(plan, turns.slice(turns.length - recent), { cut: lines }),
  ];
}

function summarySection(plan: Planner, turns: readonly Turn[]): readonly Section[] {
  const text = plan.summarise(turns, plan.config.maxSummaryTokens);
  return text === "" ? [] : [standInSection(plan, turns, text)];
}

/** A stand-in covers holes too: of what it replaces, nothing is shown. */
function standInSection(plan: Planner, turns: readonly Turn[], text: string): Section {
  const { from, to } = positionsOfTurns(turns, { start: 0, end: turns.length - 1 }) ?? { from: 0, to: 0 };
  return { from, to, turns: turns.length, tokens: plan.count(standIn(text, 0)), as: { summary: text } };
}

type Shown = "whole" | { readonly cut: number };

/** Turns side by side in one section; a hole between two positions begins another. */
function shownSections(plan: Planner, turns: readonly Turn[], as: Shown): Section[] {
  const sections: { from: number; to: number; turns: number; tokens: number; as: Shown }[] = [];
  for (const turn of turns) {
    for (const [index, entry] of turn.entries.entries()) {
      const tokens = entryTokens(plan, entry, as) + (index === 0 ? unansweredTokens(turn) : 0);
      const begun = index === 0 ? 1 : 0;
      const last = sections.at(-1);
      if (last === undefined || last.to !== entry.position) {
        sections.push({ from: entry.position, to: entry.position + 1, turns: begun, tokens, as });
      } else {
        last.to++;
        last.turns += begun;
        last.tokens += tokens;
      }
    }
  }
  return sections;
}

/** The newest turns that fit, with their tool outputs as long as the last of them allows. */
function newestThatFit(
  plan: Planner,
  entries: readonly Entry[],
  turns: readonly Turn[],
  budget: number,
): readonly Section[] {
  const last = turns.at(-1);
  if (last === undefined) return [];
  const marker = (removed: number) =>
    standInSection(plan, [{ id: undefined, entries: entries.slice(0, removed) }], removedText(removed));
  const reserved = marker(entries.length).tokens;
  const marked = reserved <= budget;
  const room = marked ? budget - reserved : budget;
  const limit = plan.config.toolOutputMaxLines;
  const lines = [limit, ...halvings(limit)].find((cut) => turnTokens(plan, last, { cut }) <= room) ?? 0;
  const kept = turns.slice(newestWithin(plan, turns, room, { cut: lines }));
  const removed = entries.length - sum(kept.map((turn) => turn.entries.length));
  const shown = shownSections(plan, kept, { cut: lines });
  return marked && removed > 0 ? [marker(removed), ...shown] : shown;
}

/** The index of the oldest turn that still fits, together with all after it. */
function newestWithin(plan: Planner, turns: readonly Turn[], room: number, as: Shown): number {
  let used = 0;
  for (let index = turns.length - 1; index >= 0; index--) {
    used += turnTokens(plan, turns[index] as Turn, as);
    if (used > room) return index + 1;
  }
  return 0;
}

function turnTokens(plan: Planner, turn: Turn, as: Shown): number {
  return sum(turn.entries.map((entry) => entryTokens(plan, entry, as))) + unansweredTokens(turn);
}

function entryTokens({ count }: Planner, { message }: Entry, as: Shown): number {
  return count(as === "whole" ? message : cutToolResult(message, as.cut));
}

/** What a view says where a call has no result. */
export function unansweredTokens(turn: Turn): number {
  const messages = turn.entries.map(({ message }) => message);
  const answered = new Set(
    messages.map((message) => (message.role === "toolResult" ? message.toolCallId : undefined)),
  );
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
  const open = calls.filter((part) => part.type === "toolCall" && !answered.has(part.id));
  return sum(
    open.map((call) => (call.type === "toolCall" ? estimateText(call.name) : 0) + UNANSWERED_TOKENS),
  );
}

const UNANSWERED_TOKENS = estimateText(UNANSWERED_CALL) + 8;

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
