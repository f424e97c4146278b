import type { RevertCategory } from "../../schema/record.ts";
import { type Faded, type FadingCategory, isFading, type LiveTag, tagText } from "../view/tag.ts";
import { extendView, type Span, type View } from "../view/view.ts";
import type { RevertRequest } from "../view/view-request.ts";
import { estimateBody, placeAt } from "./append.ts";
import { emit } from "./outbox.ts";
import { loopOf, pinnedOf } from "./phase.ts";
import type { State } from "./state/state.ts";

// The model goes back to an earlier entry (PHI-01). In the transcript that is a branch: what was left stays on the old
// one, and the next command that writes begins the new one. Between turns, so that all results are on the old one.

/** A request that was refused is told too (PHI-04). At most one of a batch is granted. */
export function applyReverts(state: State, position: number, reverts: readonly RevertRequest[]): State {
  return reverts.reduce((now, request) => {
    const { category, summary } = request;
    const told = {
      type: "RevertApplied" as const,
      category,
      ...(request.target === undefined ? {} : { target: request.target }),
      ...(summary === undefined ? {} : { summary }),
    };
    if (!request.applied) return emit(now, { ...told, applied: false, reason: request.reason });
    const abandoned = { from: request.fork, to: now.length };
    return goBack(emit(now, { ...told, abandoned, applied: true }), position, request);
  }, state);
}

function goBack(state: State, position: number, request: Extract<RevertRequest, { applied: true }>): State {
  const { fork, target, category, summary } = request;
  const { counted: _, ...rest } = state;
  const loop = loopOf(state);
  const { lastText } = loop;
  const back: State = {
    ...rest,
    length: fork,
    fork: { at: fork, by: position },
    view: cutAt(state.view, fork, request.last),
    outbox: {
      ...state.outbox,
      entries: state.outbox.entries.map((entry) =>
        entry.position < fork ? entry : { ...entry, left: true as const },
      ),
    },
    loop: { ...loop, lastText: (lastText?.position ?? 0) < fork ? lastText : undefined },
  };
  const body = { type: "notice" as const, text: tagText(category, target, summary) };
  const placed = placeAt(back, fork, "machine", body);
  const tokens = estimateBody(body);
  return {
    ...placed,
    length: fork + 1,
    view: withTag(placed.view, { category, position: fork, madeAt: turnsOf(state) }, tokens),
  };
}

/** What going back leaves at the end of the view. */
export function withTag(
  view: View,
  { category, position, madeAt }: { category: RevertCategory; position: number; madeAt: number },
  tokens: number,
): View {
  const extended = extendView(view, { position, tokens, newTurn: true });
  if (!isFading(category)) return extended;
  return { ...extended, tags: [...(extended.tags ?? []), { category, position, madeAt }] };
}

/** What stands before the fork. Texts that lie behind it are found on the branch that is left. */
export function cutAt(view: View, fork: number, last: Span | undefined): View {
  const { liveFrom, tags = [], faded, spans, branch } = view;
  const before = spans.filter(({ to }) => to <= fork);
  const kept = last === undefined ? before : [...before, last];
  const left = <Text extends { readonly position: number; readonly branch?: string }>(text: Text): Text =>
    text.position < fork || text.branch !== undefined ? text : { ...text, branch };
  const older = tags.filter(({ position }) => position < fork);
  return {
    branch,
    spans: kept.map((span) => ({
      ...span,
      ...(span.instead === undefined ? {} : { instead: left(span.instead) }),
      ...(span.memos === undefined ? {} : { memos: span.memos.map(left) }),
    })),
    ...(liveFrom === undefined ? {} : { liveFrom: Math.min(liveFrom, fork) }),
    ...(faded === undefined ? {} : { faded: fadedUpTo(faded, fork) }),
    ...(older.length === 0 ? {} : { tags: older }),
  };
}

/** What is made from here on is not faded yet. */
function fadedUpTo(faded: Faded, fork: number): Faded {
  const { failure, tangent } = faded;
  return {
    ...(failure === undefined ? {} : { failure: Math.min(failure, fork) }),
    ...(tangent === undefined ? {} : { tangent: Math.min(tangent, fork) }),
  };
}

export type FadingSettings = { readonly shownForTurns: number; readonly newestOfKind: number };

const DEFAULT_SETTINGS: FadingSettings = { shownForTurns: 5, newestOfKind: 3 };

/** PHI-02: a lesson or a finding is shown for some turns, and for as long as it is among the newest of its kind. */
export function fadeTags(state: State): State {
  const view = viewFaded(state.view, turnsOf(state), pinnedOf(state).revert);
  return view === state.view ? state : { ...state, view };
}

/** @param turns - Of the run, so far. */
export function viewFaded(view: View, turns: number, settings: FadingSettings = DEFAULT_SETTINGS): View {
  const { tags, ...rest } = view;
  if (tags === undefined) return view;
  const { shownForTurns, newestOfKind } = settings;
  const isShown = (tag: LiveTag): boolean => {
    const newer = tags.filter(
      ({ category, position }) => category === tag.category && position > tag.position,
    );
    return turns - tag.madeAt < shownForTurns || newer.length < newestOfKind;
  };
  const shown = tags.filter(isShown);
  const gone = tags.filter((tag) => !shown.includes(tag));
  if (gone.length === 0) return view;
  const behind = (category: FadingCategory) =>
    gone.filter((tag) => tag.category === category).map(({ position }) => position + 1);
  const failure = Math.max(view.faded?.failure ?? 0, ...behind("failure"));
  const tangent = Math.max(view.faded?.tangent ?? 0, ...behind("tangent"));
  return {
    ...rest,
    faded: { ...(failure === 0 ? {} : { failure }), ...(tangent === 0 ? {} : { tangent }) },
    ...(shown.length === 0 ? {} : { tags: shown }),
  };
}

/** Of the whole run: loops begin to count anew. */
function turnsOf(state: State): number {
  return state.totals.turns + loopOf(state).turn;
}
