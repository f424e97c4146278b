import { addTag, fadeView, type TagFadingSettings, truncateView } from "../../core/machine/apply-reverts.ts";
import {
  isWhole,
  joinPruned,
  type MemoRef,
  replaceSpans,
  type Span,
  type View,
} from "../../core/view/view.ts";
import type { ViewRange } from "../../core/view/view-ranges.ts";
import type { PositionRange } from "../../core/view/view-request.ts";
import type { EventBody } from "../../schema/loop-event.ts";

// How an event has changed the view that the model sees, from the event alone. Tokens are not counted.

export type ViewState = {
  readonly view: View;
  /** The next free position: everything before it is in the view, or was removed from it. */
  readonly length: number;
  /** The turns of the run so far. */
  readonly turns: number;
  /** The position of a compaction whose result was not recorded. */
  readonly unrecordedCompaction?: number;
};

export type EventDetails = {
  /** What a compaction has left. */
  readonly ranges: readonly ViewRange[] | undefined;
  readonly fading: TagFadingSettings | undefined;
};

export function applyEvent(seen: ViewState, body: EventBody, { ranges, fading }: EventDetails): ViewState {
  switch (body.type) {
    case "TurnStart":
      return { ...seen, view: fadeView(seen.view, seen.turns, fading) };
    case "TurnEnd":
      return { ...seen, turns: seen.turns + 1 };
    case "InputRejected":
      return body.position === undefined ? seen : skipEntry(seen, body.position);
    case "PrunApplied":
      return applyPrune(seen, body);
    case "RevertApplied":
      return applyRevert(seen, body);
    case "AgentEnd":
      return extendTo(seen, body.to);
    case "CompactionEnded":
      return applyCompaction(seen, body.position, ranges);
    default:
      return seen;
  }
}

/** Extends the view to everything before this position. */
export function extendTo(seen: ViewState, position: number): ViewState {
  if (position <= seen.length) return seen;
  const span: Span = { from: seen.length, to: position, turns: 1, tokens: 0 };
  return { ...seen, length: position, view: { ...seen.view, spans: [...seen.view.spans, span] } };
}

/** Skips an entry that no model sees. */
function skipEntry(seen: ViewState, position: number): ViewState {
  if (position < seen.length) return seen;
  return { ...extendTo(seen, position), length: position + 1 };
}

function applyPrune(before: ViewState, event: Extract<EventBody, { type: "PrunApplied" }>): ViewState {
  const [first, last] = [event.pruned[0], event.pruned.at(-1)];
  if (first === undefined || last === undefined) return before;
  const seen = extendTo(before, last.to);
  const touched = seen.view.spans.filter(({ from, to }) => to > first.from && from < last.to);
  const spans = touched.flatMap((span) => (isWhole(span) ? splitSpan(span, event.pruned) : [span]));
  const memo = event.memo;
  const marked = joinPruned(spans).map((span) =>
    memo !== undefined && span.from === first.from ? { ...span, memos: [memo satisfies MemoRef] } : span,
  );
  const view = replaceSpans(seen.view, touched[0]?.from ?? first.from, touched.at(-1)?.to ?? last.to, marked);
  return { ...seen, view: { ...view, spans: joinPruned(view.spans) } };
}

/** Splits a span into pruned and other parts. The memos of a span go to its first part. */
function splitSpan({ memos, ...span }: Span, ranges: readonly PositionRange[]): readonly Span[] {
  const borders = [span.from, ...ranges.flatMap(({ from, to }) => [from, to]), span.to].filter(
    (position) => position >= span.from && position <= span.to,
  );
  const edges = [...new Set(borders)].sort((one, other) => one - other);
  return edges.slice(0, -1).map((from, index): Span => {
    const isPruned = ranges.some((range) => from >= range.from && from < range.to);
    return {
      ...span,
      from,
      to: edges[index + 1] as number,
      ...(isPruned ? { isPruned } : {}),
      ...(index === 0 && memos !== undefined ? { memos } : {}),
    };
  });
}

function applyRevert(before: ViewState, event: Extract<EventBody, { type: "RevertApplied" }>): ViewState {
  if (!event.applied || event.abandoned === undefined) return before;
  const { from: fork, to } = event.abandoned;
  const seen = extendTo(before, to);
  const split = seen.view.spans.find((span) => span.from < fork && span.to > fork);
  const view = truncateView(seen.view, fork, split === undefined ? undefined : { ...split, to: fork });
  const tag = { category: event.category, position: fork, madeAt: seen.turns };
  return { ...seen, view: addTag(view, tag, 0), length: fork + 1 };
}

function applyCompaction(
  seen: ViewState,
  position: number,
  ranges: readonly ViewRange[] | undefined,
): ViewState {
  const { unrecordedCompaction: _, ...rest } = seen;
  const spans = (ranges ?? []).map((range) => ({ ...range, turns: 1, tokens: 0 }));
  return {
    ...rest,
    length: position + 1,
    view: { ...seen.view, spans, prunableFrom: position + 1 },
    ...(ranges === undefined ? { unrecordedCompaction: position } : {}),
  };
}
