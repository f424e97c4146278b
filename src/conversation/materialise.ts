import { labelled } from "../core/view/labels.ts";
import { type Faded, isFaded, tagOf } from "../core/view/tag.ts";
import type { Shown } from "../core/view/view.ts";
import type { Range, ViewRanges } from "../core/view/view-ranges.ts";
import { ProtocolError } from "../platform/text/protocol-error.ts";
import type { AgentMessage, Message, UserMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import { isWordsOfPeople, shownMessage } from "./compaction/clip.ts";
import { standIn } from "./compaction/stand-in.ts";
import { answerOrphans } from "./orphans.ts";
import { memoText } from "./pruning/memo.ts";
import { COMPACTION_KIND, isSeenByApplication, isSent } from "./seen-messages.ts";

// A view and the entries that it speaks of, made into the messages that are seen.

/**
 * The messages that a model sees, in order of position.
 *
 * Failed, aborted and filtered answers stay in the record and out of the view, extension messages too. A call without
 * a result gets one that says so: vendors refuse an orphan.
 *
 * @param entries - In order of position; those outside the view are left out. With the entries of the compactions
 * and the answers whose texts the view shows.
 */
export function materialise(
  view: ViewRanges,
  entries: readonly Entry[],
  options: Materialising = {},
): readonly Message[] {
  const at = new Map<AgentMessage, number>();
  const whole = answerOrphans(seenOf(view, entries, isSent, options, at));
  return options.labels === true ? labelled(whole, at) : whole;
}

/** The same, with what an application keeps in the conversation for itself. */
export function materialiseAll(
  view: ViewRanges,
  entries: readonly Entry[],
  options: Materialising = {},
): readonly AgentMessage[] {
  const at = new Map<AgentMessage, number>();
  const whole = answerOrphans(seenOf(view, entries, isSeenByApplication, options, at));
  return options.labels === true ? labelled(whole, at) : whole;
}

/** @param at - Told where each message stands that may have a name. */
function seenOf<Seen extends AgentMessage>(
  { ranges, faded }: ViewRanges,
  entries: readonly Entry[],
  isSeen: (message: AgentMessage) => message is Seen,
  { elsewhere = () => undefined }: Materialising,
  at: Map<AgentMessage, number>,
): readonly (Seen | UserMessage)[] {
  return ranges.flatMap((range): readonly (Seen | UserMessage)[] => {
    const own = entriesIn(entries, range);
    const find = ({ branch, position }: { branch?: string; position: number }) =>
      branch === undefined ? messageAt(entries, position) : elsewhere(branch, position);
    const memos = (range.memos ?? []).map((memo) => standIn(memoText(find(memo), memo), timeOf(own)));
    if (range.instead !== undefined) {
      const text = insteadOf(range.instead, own, find(range.instead));
      return [...memos, text, ...wordsBehind(range, own, isSeen)];
    }
    const seen = own.flatMap((entry) => {
      if (!isLeft(range, entry, faded) || !isSeen(entry.message)) return [];
      const message = shownMessage(entry, range) as Seen;
      if (tagOf(entry) === undefined) at.set(message, entry.position);
      return [message];
    });
    return [...memos, ...seen];
  });
}

/** Words of people that stay where a text stands for all else. They have no label: nobody goes back to them. */
function wordsBehind<Seen extends AgentMessage>(
  range: Range,
  entries: readonly Entry[],
  isSeen: (message: AgentMessage) => message is Seen,
): readonly Seen[] {
  const { wordsFrom } = range;
  if (wordsFrom === undefined) return [];
  const kept = entries.filter((entry) => entry.position >= wordsFrom && isWordsOfPeople(entry));
  return kept.map((entry) => shownMessage(entry, range)).filter(isSeen);
}

export type Materialising = {
  /** Entries are shown with the names that the model may call them by (PHI-05). */
  readonly labels?: boolean;
  /** Messages of other branches, whose texts the view shows. */
  readonly elsewhere?: (branch: string, position: number) => AgentMessage | undefined;
};

/** What is left in a range of its own entries, or of those that a text stands for: all but what was pruned. */
export function isLeft(range: Range, entry: Entry, faded: Faded | undefined): boolean {
  return (range.words === undefined || entry.message.role === "user") && !isFaded(entry, faded);
}

/** Entries from `from` up to, not including, `to`; found by halving, for lists are long. */
function entriesIn(entries: readonly Entry[], { from, to }: Range): readonly Entry[] {
  return entries.slice(indexOf(entries, from), indexOf(entries, to));
}

/** The index of the first entry at this position or behind it. */
function indexOf(entries: readonly Entry[], position: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle] as Entry).position < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

function messageAt(entries: readonly Entry[], position: number): AgentMessage | undefined {
  const entry = entries[indexOf(entries, position)];
  return entry?.position === position ? entry.message : undefined;
}

function insteadOf(
  { position, section }: NonNullable<Shown["instead"]>,
  own: readonly Entry[],
  compaction: AgentMessage | undefined,
): UserMessage {
  const text = compactionTexts(compaction)[section];
  if (text === undefined)
    throw new ProtocolError(`Entry ${position} holds no section ${section} of a compaction`);
  return standIn(text, timeOf(own));
}

function timeOf(entries: readonly Entry[]): number {
  return entries.at(-1)?.message.timestamp ?? 0;
}

function compactionTexts(message: AgentMessage | undefined): readonly (string | undefined)[] {
  if (message?.role !== "extension" || message.kind !== COMPACTION_KIND) return [];
  const { sections } = message.data as { sections?: readonly { text?: string }[] };
  return (sections ?? []).map(({ text }) => text);
}
