import type { ContextConfig } from "../../schema/context.ts";
import type { Entry } from "../../schema/record.ts";
import { leastPlan, withUnread } from "./least.ts";
import {
  cutTo,
  entriesIn,
  joined,
  type Plan,
  type PlanOptions,
  type Section,
  Sections,
  tokensOf,
  withoutCompactions,
} from "./plan.ts";
import { middleRemovedText, saidBy } from "./stand-in.ts";
import type { Turn } from "./turns.ts";
import { type Work, wordsToAnswer, workIn } from "./work.ts";

// The tiered strategy: three levels, each harsher, until the messages fit (CTX-11). It knows no loops: what is old is
// counted in messages.
//
// Invariants
//   T1. The tokens of the sections together are at most the budget, for any entries (CTX-15).
//   T2. A call and its result are in one section.
//   T3. What fits is shown as it is.
//   T4. Words of people that the loop at work answers, and results that no answer has read, are shown, whole or with head
//       and tail (docs/loop.md, rules 1 and 2).

export type TieredConfig = Pick<ContextConfig, "keepFirst" | "keepRecent" | "toolOutputMaxLines">;

/** A view holds no more pieces of what is old: the oldest are one text. */
const MAX_OLD_SECTIONS = 24;

export function planTiered(
  given: readonly Entry[],
  config: TieredConfig,
  budget: number,
  options: Pick<PlanOptions, "count"> = {},
): Plan {
  const plan = new Sections(options);
  const entries = withoutCompactions(given);
  const work = workIn(entries);
  const { turns, old } = divided(work, config);
  const tail = turns.slice(turns.length - work.unread);
  const read = turns.slice(0, turns.length - work.unread);
  const cut = cutTo(config.toolOutputMaxLines);
  const recent = plan.shown(read.slice(old), cut);
  const levels: readonly (() => readonly Section[])[] = [
    () => plan.shown(read, "whole"),
    () => plan.shown(read, cut),
    () => [...summarised(plan, read.slice(0, old)), ...recent],
    () => [...middleRemoved(plan, read.slice(0, old), work, config), ...recent],
  ];
  for (const level of levels) {
    const sections = [...level(), ...plan.shown(tail, "whole")];
    if (tokensOf(sections) <= budget) return { ok: true, sections: joined(sections) };
  }
  for (const level of levels.slice(2)) {
    const sections = withUnread(plan, level(), tail, budget);
    if (sections !== undefined) return { ok: true, sections: joined(sections) };
  }
  return leastPlan(plan, work, budget, config.toolOutputMaxLines);
}

/** How many of the turns that the model has read lie before the last `keepRecent` messages, whole turns only (CMP-09). */
function divided({ older, turns: newest, unread }: Work, { keepRecent }: TieredConfig) {
  const turns = [...older.flat(), ...newest];
  let old = turns.length;
  let messages = 0;
  while (old > 0 && (messages < keepRecent || old > turns.length - unread)) {
    old--;
    messages += turns[old]?.entries.length ?? 0;
  }
  return { turns, old };
}

/**
 * CTX-13: each answer is a line, its results are gone; words of people and of applications stay.
 *
 * Where that gives too many pieces, the oldest are one text, with the words of people behind it.
 */
function summarised(plan: Sections, turns: readonly Turn[]): readonly Section[] {
  const runs = runsOf(turns);
  const oldest = runs.slice(0, Math.max(0, runs.length - MAX_OLD_SECTIONS));
  const lines = oldest.flatMap(linesOf);
  const position = oldest[0]?.entries[0]?.position ?? 0;
  return [
    ...(oldest.length === 0 ? [] : plan.text(oldest, lines.join("\n"), { wordsFrom: position })),
    ...runs.slice(oldest.length).flatMap((run) => {
      const said = linesOf(run);
      if (said.length > 0) return plan.text([run], said.join("\n"));
      return plan.shown([{ ...run, entries: run.entries.filter((entry) => !isMade(entry)) }], "whole");
    }),
  ];
}

function linesOf({ entries }: Turn): readonly string[] {
  return entries.flatMap(({ message }) =>
    message.role === "assistant" ? [`[Summary] ${saidBy(message)}`] : [],
  );
}

function isMade({ message }: Entry): boolean {
  return message.role === "assistant" || message.role === "toolResult";
}

/** Answers with their results, and what stands between them, as turns of their own. */
function runsOf(turns: readonly Turn[]): readonly Turn[] {
  const runs: { id: Turn["id"]; entries: Entry[] }[] = [];
  for (const { id, entries } of turns) {
    for (const entry of entries) {
      const last = runs.at(-1);
      const before = last?.entries[0];
      if (last === undefined || before === undefined || isMade(before) !== isMade(entry)) {
        runs.push({ id, entries: [entry] });
      } else last.entries.push(entry);
    }
  }
  return runs;
}

/** CTX-14: the beginning, a marker, and behind it the words that must stay. */
function middleRemoved(
  plan: Sections,
  turns: readonly Turn[],
  work: Work,
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
  const wordsFrom = wordsToAnswer(work)[0]?.position;
  return [
    ...summarised(plan, part(entries.slice(0, first))),
    ...plan.text(middle, middleRemovedText(entriesIn(middle)), wordsFrom === undefined ? {} : { wordsFrom }),
  ];
}
