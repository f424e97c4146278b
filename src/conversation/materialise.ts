import { addLabels } from "../core/view/labels.ts";
import { type FadedBefore, isFaded, parseTag } from "../core/view/tag.ts";
import type { SpanFormat } from "../core/view/view.ts";
import type { ViewRange, ViewRanges } from "../core/view/view-ranges.ts";
import { ProtocolError } from "../platform/text/protocol-error.ts";
import type { AgentMessage, Message, UserMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import { formatEntry, isUserText } from "./compaction/clip.ts";
import { buildPlaceholder } from "./compaction/placeholder.ts";
import { COMPACTION_KIND, isForApplication, isSent } from "./message-visibility.ts";
import { answerOrphans } from "./orphans.ts";
import { formatMemo } from "./pruning/memo.ts";

// Builds the visible messages from a view and the entries that it refers to.

/**
 * Builds the messages that a model sees, in order of position.
 *
 * Failed, aborted and filtered answers stay in the record but not in the view, like extension messages. A call
 * without a result gets one that says so, because vendors reject an orphan.
 *
 * @param entries - In order of position; those outside the view are skipped. They include the entries of the compactions
 * and the answers whose texts the view shows.
 */
export function materialise(
  view: ViewRanges,
  entries: readonly Entry[],
  options: MaterialiseOptions = {},
): readonly Message[] {
  const positions = new Map<AgentMessage, number>();
  const whole = answerOrphans(buildMessages(view, entries, isSent, options, positions));
  return options.labels === true ? addLabels(whole, positions) : whole;
}

/** Builds the same messages, and those that an application stores in the conversation for itself. */
export function materialiseAll(
  view: ViewRanges,
  entries: readonly Entry[],
  options: MaterialiseOptions = {},
): readonly AgentMessage[] {
  const positions = new Map<AgentMessage, number>();
  const whole = answerOrphans(buildMessages(view, entries, isForApplication, options, positions));
  return options.labels === true ? addLabels(whole, positions) : whole;
}

/** @param at - Called with the position of each message that may have a label. */
function buildMessages<Seen extends AgentMessage>(
  { ranges, fadedBefore }: ViewRanges,
  entries: readonly Entry[],
  isSeen: (message: AgentMessage) => message is Seen,
  { readMessage: elsewhere = () => undefined }: MaterialiseOptions,
  positions: Map<AgentMessage, number>,
): readonly (Seen | UserMessage)[] {
  return ranges.flatMap((range): readonly (Seen | UserMessage)[] => {
    const own = sliceEntries(entries, range);
    const find = ({ branch, position }: { branch?: string; position: number }) =>
      branch === undefined ? getMessage(entries, position) : elsewhere(branch, position);
    const memos = (range.memos ?? []).map((memo) =>
      buildPlaceholder(formatMemo(find(memo), memo), getTimestamp(own)),
    );
    if (range.replacement !== undefined) {
      const text = buildReplacement(range.replacement, own, find(range.replacement));
      return [...memos, text, ...getUserMessages(range, own, isSeen)];
    }
    const seen = own.flatMap((entry) => {
      if (!isVisible(range, entry, fadedBefore) || !isSeen(entry.message)) return [];
      const message = formatEntry(entry, range) as Seen;
      if (parseTag(entry) === undefined) positions.set(message, entry.position);
      return [message];
    });
    return [...memos, ...seen];
  });
}

/** Returns user messages that stay where a text replaces everything else. They have no label: a model never goes back to
 * them. */
function getUserMessages<Seen extends AgentMessage>(
  range: ViewRange,
  entries: readonly Entry[],
  isSeen: (message: AgentMessage) => message is Seen,
): readonly Seen[] {
  const { userTextFrom } = range;
  if (userTextFrom === undefined) return [];
  const kept = entries.filter((entry) => entry.position >= userTextFrom && isUserText(entry));
  return kept.map((entry) => formatEntry(entry, range)).filter(isSeen);
}

export type MaterialiseOptions = {
  /** Entries have the labels by which the model may refer to them (PHI-05). */
  readonly labels?: boolean;
  /** Reads messages of other branches whose texts the view shows. */
  readonly readMessage?: (branch: string, position: number) => AgentMessage | undefined;
};

/** Reports whether a range, or the text that replaces it, includes an entry: all but pruned ones. */
export function isVisible(range: ViewRange, entry: Entry, faded: FadedBefore | undefined): boolean {
  return (range.isPruned === undefined || entry.message.role === "user") && !isFaded(entry, faded);
}

/** Returns the entries from `from` (inclusive) to `to` (exclusive), by binary search, because lists are long. */
function sliceEntries(entries: readonly Entry[], { from, to }: ViewRange): readonly Entry[] {
  return entries.slice(findEntryIndex(entries, from), findEntryIndex(entries, to));
}

/** Returns the index of the first entry at or after this position. */
function findEntryIndex(entries: readonly Entry[], position: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle] as Entry).position < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

function getMessage(entries: readonly Entry[], position: number): AgentMessage | undefined {
  const entry = entries[findEntryIndex(entries, position)];
  return entry?.position === position ? entry.message : undefined;
}

function buildReplacement(
  { position, section }: NonNullable<SpanFormat["replacement"]>,
  own: readonly Entry[],
  compaction: AgentMessage | undefined,
): UserMessage {
  const text = getCompactionTexts(compaction)[section];
  if (text === undefined)
    throw new ProtocolError(`Entry ${position} holds no section ${section} of a compaction`);
  return buildPlaceholder(text, getTimestamp(own));
}

function getTimestamp(entries: readonly Entry[]): number {
  return entries.at(-1)?.message.timestamp ?? 0;
}

function getCompactionTexts(message: AgentMessage | undefined): readonly (string | undefined)[] {
  if (message?.role !== "extension" || message.kind !== COMPACTION_KIND) return [];
  const { sections } = message.data as { sections?: readonly { text?: string }[] };
  return (sections ?? []).map(({ text }) => text);
}
