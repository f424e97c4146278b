import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { RevertCategory } from "../../schema/loop-event.ts";
import { type FadedBefore, formatTag, isFading, type LiveTag } from "../view/tag.ts";
import { extendView, type Span, type View } from "../view/view.ts";
import type { RevertRequest } from "../view/view-request.ts";
import { appendAtPosition, estimateBody } from "./append-message.ts";
import { emit } from "./outbox.ts";
import { requireLoop, requirePinned } from "./phase.ts";
import type { State } from "./state/state.ts";

// The model goes back to an earlier entry (PHI-01). In the transcript this is a branch: what is abandoned stays on the old
// one, and the next command that writes begins the new one. It happens between turns, so all results are on the old one.

/** Applies the reverts of a batch. A rejected request is reported too (PHI-04). At most one of a batch is granted. */
export function applyReverts(state: State, position: number, reverts: readonly RevertRequest[]): State {
  return reverts.reduce((now, request) => {
    const { category, summary } = request;
    const event = {
      type: "RevertApplied" as const,
      category,
      ...omitUndefined({ target: request.target, summary }),
    };
    if (!request.applied) return emit(now, { ...event, applied: false, reason: request.reason });
    const abandoned = { from: request.fork, to: now.length };
    return applyRevert(emit(now, { ...event, abandoned, applied: true }), position, request);
  }, state);
}

function applyRevert(
  state: State,
  position: number,
  request: Extract<RevertRequest, { applied: true }>,
): State {
  const { fork, target, category, summary } = request;
  const { reportedSize: _, ...rest } = state;
  // The answer that goes back is after the fork, and so is everything that is not stored yet.
  const back: State = {
    ...rest,
    length: fork,
    newBranch: { at: fork, by: position },
    view: truncateView(state.view, fork, request.last),
    outbox: {
      ...state.outbox,
      entries: state.outbox.entries.map((entry) => ({ ...entry, left: true as const })),
    },
    loop: { ...requireLoop(state), lastText: undefined },
  };
  const body = { type: "notice" as const, text: formatTag(category, target, summary) };
  const placed = appendAtPosition(back, fork, "machine", body);
  const tokens = estimateBody(body);
  return {
    ...placed,
    length: fork + 1,
    view: addTag(placed.view, { category, position: fork, madeAt: countRunTurns(state) }, tokens),
  };
}

/** Adds the tag that going back leaves at the end of the view. */
export function addTag(
  view: View,
  { category, position, madeAt }: { category: RevertCategory; position: number; madeAt: number },
  tokens: number,
): View {
  const extended = extendView(view, { position, tokens, newTurn: true });
  if (!isFading(category)) return extended;
  return { ...extended, tags: [...(extended.tags ?? []), { category, position, createdAtTurn: madeAt }] };
}

/** Returns the view before the fork. Texts after the fork are found on the branch that was left. */
export function truncateView(view: View, fork: number, last: Span | undefined): View {
  const { prunableFrom, tags = [], fadedBefore, spans, branch } = view;
  const before = spans.filter(({ to }) => to <= fork);
  const kept = last === undefined ? before : [...before, last];
  const left = <Text extends { readonly position: number; readonly branch?: string }>(text: Text): Text =>
    text.position < fork || text.branch !== undefined ? text : { ...text, branch };
  const limit = (position: number | undefined) => position && Math.min(position, fork);
  const older = tags.filter(({ position }) => position < fork);
  return {
    branch,
    spans: kept.map((span) => ({
      ...span,
      ...omitUndefined({
        replacement: span.replacement && left(span.replacement),
        memos: span.memos?.map(left),
      }),
    })),
    ...omitUndefined({
      prunableFrom: limit(prunableFrom),
      // Entries that are made after the fork have not faded yet.
      fadedBefore:
        fadedBefore &&
        omitUndefined({ failure: limit(fadedBefore.failure), tangent: limit(fadedBefore.tangent) }),
    }),
    ...(older.length === 0 ? {} : { tags: older }),
  };
}

export type TagFadingSettings = { readonly shownForTurns: number; readonly newestOfKind: number };

const DEFAULT_SETTINGS: TagFadingSettings = { shownForTurns: 5, newestOfKind: 3 };

/** Fades tags (PHI-02): a lesson or a finding is visible for some turns, and while it is among the newest of its kind. */
export function fadeTags(state: State): State {
  return { ...state, view: fadeView(state.view, countRunTurns(state), requirePinned(state).revert) };
}

/** @param turns - The turns of the run so far. */
export function fadeView(view: View, turns: number, settings: TagFadingSettings = DEFAULT_SETTINGS): View {
  const { tags, ...rest } = view;
  if (tags === undefined) return view;
  const { shownForTurns, newestOfKind } = settings;
  const isShown = (tag: LiveTag): boolean => {
    const newer = tags.filter(
      ({ category, position }) => category === tag.category && position > tag.position,
    );
    return turns - tag.createdAtTurn < shownForTurns || newer.length < newestOfKind;
  };
  const shown = tags.filter(isShown);
  const hidden = tags.filter((tag) => !shown.includes(tag));
  if (hidden.length === 0) return view;
  // Of several tags of a category, the newest is the last one.
  const faded: FadedBefore = Object.fromEntries(
    hidden.map(({ category, position }) => [category, position + 1]),
  );
  return {
    ...rest,
    fadedBefore: { ...view.fadedBefore, ...faded },
    ...(shown.length === 0 ? {} : { tags: shown }),
  };
}

/** Counts the turns of the whole run, because each loop counts from 0. */
function countRunTurns(state: State): number {
  return state.totals.turns + requireLoop(state).turn;
}
