import type { CompactionConfig } from "../../schema/context.ts";
import type { Entry } from "../../schema/record.ts";
import { findCurrentWork, getMessagesToAnswer } from "./current-work.ts";
import { addUnreadTurns, planLeast } from "./least-plan.ts";
import {
  generateLineLimits,
  joinSections,
  limitLines,
  type Plan,
  type PlanOptions,
  removeCompactions,
  type Section,
  SectionBuilder,
  sumSectionTokens,
} from "./plan.ts";
import { countLoopsInScope } from "./scope.ts";
import type { Turn } from "./turns.ts";

// The default strategy for a session: a plan over entries that changes none of them. The newest loop keeps its first
// turns, a summary of its middle, and its last turns with their tool outputs cut; earlier loops become summaries, older
// ones are omitted (CMP-03, CMP-05, CMP-07).
//
// Invariants
//   B1. The tokens of the sections together are at most the budget, for any entries (CTX-15).
//   B2. Sections are in order of position and do not overlap (PHI-13g).
//   B3. An answer and the results of its calls are in one section, or in none.
//   B4. An entry that was not given is in no visible section: a section ends at a gap in the positions.
//   B5. User messages that the running loop answers are visible, whole or with head and tail (docs/loop.md, rule 1).
//   B6. Results that no answer has read are visible, whole or with head and tail (rule 2).

/**
 * Plans the sections of a compacted view.
 *
 * If the newest loop has no middle, there is nothing to summarise, and it stays unchanged. A plan over the budget
 * is reduced in this order: fewer recent turns, fewer lines of their results, no first turns, shorter results that the
 * model has not read, and finally all but the newest turns that fit, after a marker (CTX-14).
 */
export function planBlock(
  given: readonly Entry[],
  config: CompactionConfig,
  budget: number,
  options: PlanOptions,
): Plan {
  const plan = new SectionBuilder(options);
  const entries = removeCompactions(given);
  const work = findCurrentWork(entries);
  const { older, turns, unreadCount } = work;
  const whole = (loop: readonly Turn[]) => sumSectionTokens(plan.buildEntrySections(loop, "whole"));
  const inScope = countLoopsInScope(config.scope, older.map(whole), options.maxContextTokens);
  const earlier = older.slice(older.length - inScope);
  const summaries = earlier.flatMap((loop) => plan.buildSummarySection(loop, config.maxSummaryTokens));
  const wordsFrom = getMessagesToAnswer(work)[0]?.position;
  const loop = (layout: Layout) => [...summaries, ...planNewestLoop(plan, turns, layout, config, wordsFrom)];
  const tail = turns.slice(turns.length - unreadCount);
  for (const layout of generateLayouts(config, turns.length, unreadCount)) {
    const sections = [...loop(layout), ...plan.buildEntrySections(tail, "whole")];
    if (sumSectionTokens(sections) <= budget) return { ok: true, sections: joinSections(sections) };
  }
  const before = loop({ first: 0, recent: 0, unreadCount, maxLines: config.toolOutputMaxLines });
  const sections = addUnreadTurns(plan, before, tail, budget);
  if (sections !== undefined) return { ok: true, sections: joinSections(sections) };
  return planLeast(plan, { ...work, older: earlier }, budget, config.toolOutputMaxLines);
}

/**
 * How the newest loop is divided: the number of turns at its beginning, the number before those that the model has not
 * read, and the number of lines of their results.
 */
type Layout = {
  readonly first: number;
  readonly recent: number;
  readonly unreadCount: number;
  readonly maxLines: number;
};

function* generateLayouts(config: CompactionConfig, turns: number, unread: number): Generator<Layout> {
  const first = Math.min(config.keepFirstTurns, turns - unread);
  const most = Math.max(0, Math.min(config.keepRecentTurns - unread, turns - first - unread));
  const [lines = 0, ...fewer] = generateLineLimits(config);
  for (let recent = most; recent > 0; recent--) yield { first, recent, unreadCount: unread, maxLines: lines };
  for (const less of most > 0 ? fewer : []) yield { first, recent: 1, unreadCount: unread, maxLines: less };
  yield { first, recent: 0, unreadCount: unread, maxLines: lines };
}

/** Plans the turns of the newest loop, except those that the model has not read. */
function planNewestLoop(
  plan: SectionBuilder,
  turns: readonly Turn[],
  { first, recent, unreadCount, maxLines }: Layout,
  { maxSummaryTokens }: CompactionConfig,
  wordsFrom: number | undefined,
): readonly Section[] {
  const end = turns.length - unreadCount;
  const middle = turns.slice(first, end - recent);
  if (middle.length === 0) return plan.buildEntrySections(turns.slice(0, end), "whole");
  return [
    ...plan.buildEntrySections(turns.slice(0, first), "whole"),
    ...plan.buildSummarySection(middle, maxSummaryTokens, wordsFrom),
    ...plan.buildEntrySections(turns.slice(end - recent, end), limitLines(maxLines)),
  ];
}
