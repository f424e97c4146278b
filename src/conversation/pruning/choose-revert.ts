import { formatLabel, parseLabel } from "../../core/view/labels.ts";
import { parseTag } from "../../core/view/tag.ts";
import type { Span, View } from "../../core/view/view.ts";
import type { RevertRequest, ToolView } from "../../core/view/view-request.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { RevertCategory } from "../../schema/loop-event.ts";
import type { Entry } from "../../schema/record.ts";
import { isUserText } from "../compaction/clip.ts";
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
 * @param entries - The entries of the view's branch before the answer whose call requests it, in order of position.
 */
export function chooseRevert(
  { view, loopFrom, isReverted }: ToolView,
  entries: readonly Entry[],
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
  const label = parseLabel(step);
  const named = entries.find(({ position }) => position === label);
  if (named === undefined || !hasLabel(named, view)) {
    return refused(
      `there is no entry ${step.slice(0, 32)} in the context: name one by its label, such as "n12"`,
    );
  }
  let target = named.position;
  while (at.get(target + 1)?.message.role === "toolResult") target++;
  let fork = target + 1;
  while (hasTag(at.get(fork), target) && findSpan(view.spans, fork)?.replacement === undefined) fork++;
  if (fork < loopFrom) return refused(`${formatLabel(target)} is before this loop`, target);
  const spoken = entries.find((entry) => entry.position >= fork && isUserText(entry));
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
    ...omitUndefined({ last: split && truncateSpan(split, fork, entries) }),
  };
}

/** Reports whether a request shows the entry with its label. */
function hasLabel(entry: Entry, { spans, fadedBefore }: View): boolean {
  const span = findSpan(spans, entry.position);
  if (span === undefined || span.replacement !== undefined) return false;
  return isVisible(span, entry, fadedBefore) && isSent(entry.message) && parseTag(entry) === undefined;
}

function findSpan(spans: readonly Span[], position: number): Span | undefined {
  return spans.find(({ from, to }) => position >= from && position < to);
}

function hasTag(entry: Entry | undefined, target: number): boolean {
  return entry !== undefined && parseTag(entry)?.target === target;
}

function truncateSpan(span: Span, to: number, entries: readonly Entry[]): Span {
  const ending = { ...span, to };
  const memos = (span.memos ?? []).reduce((sum, { tokens }) => sum + tokens, 0);
  return { ...ending, tokens: estimateSpanTokens(ending, entries) + memos };
}
