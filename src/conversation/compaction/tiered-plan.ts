import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { ContextConfig } from "../../schema/context.ts";
import type { Entry } from "../../schema/record.ts";
import { type CurrentWork, findCurrentWork, getMessagesToAnswer } from "./current-work.ts";
import { addUnreadTurns, planLeast } from "./least-plan.ts";
import { formatMiddleRemoved, summariseAnswer } from "./placeholder.ts";
import {
  countEntries,
  joinSections,
  limitLines,
  type Plan,
  type PlanOptions,
  removeCompactions,
  type Section,
  SectionBuilder,
  sumSectionTokens,
} from "./plan.ts";
import type { Turn } from "./turns.ts";

// The tiered strategy: three tiers, each stronger, until the messages fit (CTX-11). It ignores loops and counts messages
// to decide what is old.
//
// Invariants
//   T1. The tokens of the sections together are at most the budget, for any entries (CTX-15).
//   T2. A call and its result are in one section.
//   T3. What fits stays unchanged.
//   T4. User messages that the running loop answers, and results that no answer has read, are visible, whole or with head
//       and tail (docs/loop.md, rules 1 and 2).

export type TieredConfig = Pick<ContextConfig, "keepFirst" | "keepRecent" | "toolOutputMaxLines">;

/** The maximum number of old sections in a view: beyond it, the oldest become one text. */
const MAX_OLD_SECTIONS = 24;

export function planTiered(
  given: readonly Entry[],
  config: TieredConfig,
  budget: number,
  options: Pick<PlanOptions, "count"> = {},
): Plan {
  const plan = new SectionBuilder(options);
  const entries = removeCompactions(given);
  const work = findCurrentWork(entries);
  const { turns, old } = splitTurns(work, config);
  const tail = turns.slice(turns.length - work.unreadCount);
  const read = turns.slice(0, turns.length - work.unreadCount);
  const cut = limitLines(config.toolOutputMaxLines);
  const recent = plan.buildEntrySections(read.slice(old), cut);
  const levels: readonly (() => readonly Section[])[] = [
    () => plan.buildEntrySections(read, "whole"),
    () => plan.buildEntrySections(read, cut),
    () => [...summariseTurns(plan, read.slice(0, old)), ...recent],
    () => [...removeMiddle(plan, read.slice(0, old), work, config), ...recent],
  ];
  for (const level of levels) {
    const sections = [...level(), ...plan.buildEntrySections(tail, "whole")];
    if (sumSectionTokens(sections) <= budget) return { ok: true, sections: joinSections(sections) };
  }
  for (const level of levels.slice(2)) {
    const sections = addUnreadTurns(plan, level(), tail, budget);
    if (sections !== undefined) return { ok: true, sections: joinSections(sections) };
  }
  return planLeast(plan, work, budget, config.toolOutputMaxLines);
}

/** Counts the read turns before the last `keepRecent` messages, whole turns only (CMP-09). */
function splitTurns({ older, turns: newest, unreadCount }: CurrentWork, { keepRecent }: TieredConfig) {
  const turns = [...older.flat(), ...newest];
  let old = turns.length;
  let messages = 0;
  while (old > 0 && (messages < keepRecent || old > turns.length - unreadCount)) {
    old--;
    messages += turns[old]?.entries.length ?? 0;
  }
  return { turns, old };
}

/**
 * Reduces each answer to a line without its results (CTX-13); user and application messages stay.
 *
 * If that gives too many sections, the oldest become one text, followed by their user messages.
 */
function summariseTurns(plan: SectionBuilder, turns: readonly Turn[]): readonly Section[] {
  const runs = groupRuns(turns);
  const oldest = runs.slice(0, Math.max(0, runs.length - MAX_OLD_SECTIONS));
  const lines = oldest.flatMap(listAnswerLines);
  const position = oldest[0]?.entries[0]?.position ?? 0;
  return [
    ...(oldest.length === 0
      ? []
      : plan.buildTextSection(oldest, lines.join("\n"), { userTextFrom: position })),
    ...runs.slice(oldest.length).flatMap((run) => {
      const texts = listAnswerLines(run);
      if (texts.length > 0) return plan.buildTextSection([run], texts.join("\n"));
      return plan.buildEntrySections(
        [{ ...run, entries: run.entries.filter((entry) => !isMachineMade(entry)) }],
        "whole",
      );
    }),
  ];
}

function listAnswerLines({ entries }: Turn): readonly string[] {
  return entries.flatMap(({ message }) =>
    message.role === "assistant" ? [`[Summary] ${summariseAnswer(message)}`] : [],
  );
}

function isMachineMade({ message }: Entry): boolean {
  return message.role === "assistant" || message.role === "toolResult";
}

/** Groups answers with their results, and the messages between them, as separate turns. */
function groupRuns(turns: readonly Turn[]): readonly Turn[] {
  const runs: { id: Turn["id"]; entries: Entry[] }[] = [];
  for (const { id, entries } of turns) {
    for (const entry of entries) {
      const last = runs.at(-1);
      const before = last?.entries[0];
      if (last === undefined || before === undefined || isMachineMade(before) !== isMachineMade(entry)) {
        runs.push({ id, entries: [entry] });
      } else last.entries.push(entry);
    }
  }
  return runs;
}

/** Removes the middle (CTX-14): the beginning, a marker, and the messages that must stay. */
function removeMiddle(
  plan: SectionBuilder,
  turns: readonly Turn[],
  work: CurrentWork,
  { keepFirst }: TieredConfig,
): readonly Section[] {
  const entries = turns.flatMap((turn) => turn.entries);
  let messages = 0;
  const end = entries.findIndex(({ message }) => {
    if (message.role !== "toolResult") messages++;
    return messages > keepFirst;
  });
  const first = end < 0 ? entries.length : end;
  const part = (own: readonly Entry[]): readonly Turn[] =>
    own.length === 0 ? [] : [{ id: undefined, entries: own }];
  const middle = part(entries.slice(first));
  const wordsFrom = getMessagesToAnswer(work)[0]?.position;
  return [
    ...summariseTurns(plan, part(entries.slice(0, first))),
    ...plan.buildTextSection(
      middle,
      formatMiddleRemoved(countEntries(middle)),
      omitUndefined({ userTextFrom: wordsFrom }),
    ),
  ];
}
