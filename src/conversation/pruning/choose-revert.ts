import { formatLabel, parseLabel } from "../../core/view/labels.ts";
import { parseTag } from "../../core/view/tag.ts";
import type { Span } from "../../core/view/view.ts";
import type { RevertRequest, ToolView } from "../../core/view/view-request.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { RevertCategory } from "../../schema/loop-event.ts";
import type { Entry } from "../../schema/record.ts";
import { isVisible } from "../materialise.ts";
import { isSent } from "../message-visibility.ts";
import { estimateSpanTokens } from "./choose-prune.ts";

export type RevertInput = {
  readonly category: RevertCategory;
  /** "n12" or "12". */
  readonly step: string;
  readonly summary?: string;
};

/**
 * Decides whether the model may go back to the named entry, and how the view changes (PHI-01, PHI-03).
 *
 * An answer with calls and its results are one target: the model goes back to the end of the last result, so that a call
 * is never separated from its result.
 *
 * @param entries - The entries of the view's branch, in order of position, at least up to the requesting answer.
 * @param answer - The position of the answer whose call requests it.
 */
export function chooseRevert(
  { view, loopFrom, isReverted }: ToolView,
  entries: readonly Entry[],
  answer: number,
  { category, step, summary }: RevertInput,
): RevertRequest {
  const asked = { type: "revert" as const, category, ...omitUndefined({ summary }) };
  const refused = (reason: string, target?: number): RevertRequest => ({
    ...asked,
    applied: false,
    ...omitUndefined({ target }),
    reason,
  });
  if (isReverted === true) return refused("another call of the same answer already goes back");
  const at = new Map(entries.map((entry) => [entry.position, entry]));
  const isNamed = (position: number): boolean => {
    const entry = at.get(position);
    const span = findSpan(view.spans, position);
    if (entry === undefined || span === undefined || span.replacement !== undefined) return false;
    return isVisible(span, entry, view.fadedBefore) && isSent(entry.message) && parseTag(entry) === undefined;
  };
  const named = parseLabel(step);
  if (named === undefined || named >= answer || !isNamed(named)) {
    return refused(
      `there is no entry ${step.slice(0, 32)} in the context: name one by its label, such as "n12"`,
    );
  }
  let target = named;
  while (target + 1 < answer && at.get(target + 1)?.message.role === "toolResult") target++;
  let fork = target + 1;
  while (
    fork < answer &&
    hasTag(at.get(fork), target) &&
    findSpan(view.spans, fork)?.replacement === undefined
  )
    fork++;
  if (fork < loopFrom) return refused(`${formatLabel(target)} is before this loop`, target);
  const spoken = entries.find(
    (entry) => entry.position >= fork && entry.position < answer && isFromUser(entry),
  );
  if (spoken !== undefined) {
    return refused(
      `the user has sent a message since (${formatLabel(spoken.position)}): go back to that entry or a later one`,
      target,
    );
  }
  const split = view.spans.find(({ from, to }) => from < fork && to > fork);
  return {
    ...asked,
    applied: true,
    target,
    fork,
    ...(split === undefined ? {} : { last: truncateSpan(split, fork, entries) }),
  };
}

function findSpan(spans: readonly Span[], position: number): Span | undefined {
  return spans.find(({ from, to }) => position >= from && position < to);
}

function hasTag(entry: Entry | undefined, target: number): boolean {
  return entry !== undefined && parseTag(entry)?.target === target;
}

/** Reports whether a user sent the entry. Messages of the machine itself are abandoned with the rest. */
function isFromUser({ origin, message }: Entry): boolean {
  return message.role === "user" && origin !== "machine";
}

function truncateSpan(span: Span, to: number, entries: readonly Entry[]): Span {
  const ending = { ...span, to };
  const memos = (span.memos ?? []).reduce((sum, { tokens }) => sum + tokens, 0);
  return { ...ending, tokens: estimateSpanTokens(ending, entries) + memos };
}
