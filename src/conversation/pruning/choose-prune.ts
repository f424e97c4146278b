import { estimateMessage } from "../../core/view/estimate.ts";
import { isUncompacted, isWhole, joinPruned, type Span } from "../../core/view/view.ts";
import type { PositionRange, PruneRequest, ToolView } from "../../core/view/view-request.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Entry } from "../../schema/record.ts";
import { formatEntry } from "../compaction/clip.ts";
import { isSent } from "../message-visibility.ts";
import { type InRunItem, selectPruned } from "./prune.ts";

// Chooses which entries leave a view. User messages, the result of a compaction, and the answer whose call requests the
// prune stay.

/** The maximum number of ranges of a request. Pruning takes the oldest first, so one range is usual; calls that were
 * never answered divide it. */
const MAX_PRUNED_RANGES = 16;

/** The maximum number of memos in a view: each adds some bytes to the state for as long as the session lasts. */
const MAX_MEMOS = 16;

/** The maximum number of spans of a pruned view; with `MAX_SPANS` for the others, a few kilobytes of state. */
const MAX_PRUNED_SPANS = 96;

export type PruneChoice =
  | { readonly type: "pruned"; readonly request: PruneRequest }
  | { readonly type: "nothing"; readonly reason: string };

/**
 * @param entries - The entries of the view's branch, in order of position.
 * @param answer - The position of the answer whose call requests it; it and everything after it stay.
 */
export function choosePrune(
  { view, isReverted }: ToolView,
  entries: readonly Entry[],
  answer: number,
  targetTokens: number,
  memoTokens?: number,
): PruneChoice {
  const nothing = (reason: string): PruneChoice => ({ type: "nothing", reason });
  if (isReverted === true) return nothing("this answer already goes back to an earlier entry");
  const memos = view.spans.reduce((count, span) => count + (span.memos?.length ?? 0), 0);
  if (memoTokens !== undefined && memos >= MAX_MEMOS) {
    return nothing(`${MAX_MEMOS} memos are in the context already: prune without a memo`);
  }
  const liveFrom = view.prunableFrom ?? 0;
  const whole = view.spans.filter(isWhole);
  const live = entries.filter(
    ({ position }) =>
      position >= liveFrom && position < answer && whole.some((span) => containsPosition(span, position)),
  );
  const chosen = new Set(selectPruned(live.flatMap(toInRunItems), targetTokens).positions);
  const ranges = buildRanges(live, chosen).slice(0, MAX_PRUNED_RANGES);
  const left = live.filter(
    ({ position }) => chosen.has(position) && ranges.some((one) => containsPosition(one, position)),
  );
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (first === undefined || last === undefined) {
    return nothing("only user messages, a compaction's texts and this answer remain");
  }
  const touched = view.spans.filter(({ from, to }) => to > first.from && from < last.to);
  const between = { from: touched[0]?.from ?? first.from, to: touched.at(-1)?.to ?? last.to };
  const spans = joinPruned(
    touched.flatMap((span) => (isWhole(span) ? splitSpan(span, ranges, entries) : [span])),
  );
  if (view.spans.length - touched.length + spans.length > MAX_PRUNED_SPANS) {
    return nothing("the context is in too many pieces; the next compaction makes it smaller");
  }
  return {
    type: "pruned",
    request: {
      type: "prune",
      pruned: ranges,
      tokens: left.reduce((sum, entry) => sum + countSentTokens(entry), 0),
      messages: left.length,
      ...omitUndefined({ memoTokens }),
      replacedRange: between,
      spans,
    },
  };
}

function containsPosition({ from, to }: PositionRange, position: number): boolean {
  return position >= from && position < to;
}

function toInRunItems(entry: Entry): readonly InRunItem[] {
  const { message, position } = entry;
  const item = { position, tokens: countSentTokens(entry), isInProgress: false };
  if (message.role === "toolResult") return [{ ...item, kind: "result", callIds: [message.toolCallId] }];
  if (message.role !== "assistant") return [];
  // The calls of an answer that is never sent are never run: it waits for no result.
  const calls = isSent(message) ? message.content : [];
  const callIds = calls.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
  return [{ ...item, kind: "answer", callIds }];
}

/** Counts the tokens that a request carries for an entry. A failed answer counts 0, because it is not sent. */
function countSentTokens({ message, tokens }: Entry): number {
  return isSent(message) ? tokens : 0;
}

/** Builds ranges from neighbouring entries that leave to the next answer or result that stays, across user messages. */
function buildRanges(live: readonly Entry[], chosen: ReadonlySet<number>): readonly PositionRange[] {
  const ranges: { from: number; to: number }[] = [];
  let open = false;
  for (const { position, message } of live) {
    const last = ranges.at(-1);
    if (!chosen.has(position)) {
      if (message.role !== "user") open = false;
      else if (open && last !== undefined) last.to = position + 1;
    } else if (open && last !== undefined) last.to = position + 1;
    else {
      ranges.push({ from: position, to: position + 1 });
      open = true;
    }
  }
  return ranges;
}

/** Splits a span into pruned and other parts. */
function splitSpan(span: Span, ranges: readonly PositionRange[], entries: readonly Entry[]): readonly Span[] {
  const borders = [span.from, ...ranges.flatMap(({ from, to }) => [from, to]), span.to].filter(
    (position) => position >= span.from && position <= span.to,
  );
  const edges = [...new Set(borders)].sort((one, other) => one - other);
  return edges.slice(0, -1).map((from, index): Span => {
    const to = edges[index + 1] as number;
    const isPruned = ranges.some((range) => containsPosition(range, from));
    const shown: Span = { from, to, turns: 1, tokens: 0, ...(isPruned ? { isPruned } : {}) };
    return {
      ...shown,
      tokens: estimateSpanTokens(shown, entries),
      ...(index === 0 && span.memos !== undefined ? { memos: span.memos } : {}),
    };
  });
}

/** Estimates what is visible of a span's entries; its memos are added to that. */
export function estimateSpanTokens(span: Span, entries: readonly Entry[]): number {
  return entries
    .filter(({ position }) => containsPosition(span, position))
    .reduce((sum, entry) => {
      if (span.isPruned === true && entry.message.role !== "user") return sum;
      return sum + (isUncompacted(span) ? entry.tokens : estimateMessage(formatEntry(entry, span)));
    }, 0);
}
