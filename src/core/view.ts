import type { AgentMessage, Message, UserMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import { cutToolResult } from "./compaction/cut-text.ts";
import { standIn } from "./compaction/stand-in.ts";
import { labelled } from "./labels.ts";
import { memoText } from "./memo.ts";
import { answerOrphans } from "./orphans.ts";
import { ProtocolError } from "./protocol-error.ts";
import { COMPACTION_KIND, isSeenByApplication, isSent } from "./seen-messages.ts";
import { type Faded, isFaded, type LiveTag, tagOf } from "./tag.ts";
import type { Range, ViewRanges } from "./view-ranges.ts";

/**
 * Which entries the model sees: data, so that what it saw at any turn can be shown again at any time.
 *
 * A `turn` keeps together what must not be parted: an answer and the results of its calls.
 */
export type View = {
  readonly branch: string;
  /** In order, without overlaps; the newest ones one by one, older ones joined to a few. */
  readonly spans: readonly Span[];
  /** What stands before is what a compaction has left: it is not pruned (PRUN-09). Absent: 0. */
  readonly liveFrom?: number;
  /** Lessons and findings that are still shown, oldest first. */
  readonly tags?: readonly LiveTag[];
  /** Those that are no longer shown. */
  readonly faded?: Faded;
};

/** The entries from `from` up to, not including, `to`. */
export type Span = Shown & {
  readonly from: number;
  readonly to: number;
  readonly turns: number;
  /** What is shown of them, by estimate. */
  readonly tokens: number;
};

/** How entries are shown: as they are, or as a compaction has left them. */
export type Shown = {
  /** Long texts of tool results are cut to about this many lines. */
  readonly cut?: number;
  /** A text stands for them: this section of the compaction that is the entry at `position`, of another branch perhaps. */
  readonly instead?: { readonly position: number; readonly section: number; readonly branch?: string };
  /** They are pruned: only words of the user's side are left of them. */
  readonly words?: true;
  /** Stand before what is shown of them. */
  readonly memos?: readonly MemoRef[];
};

/** A memo is an argument of a call: the one with the index `call` in the answer at `position`. */
export type MemoRef = {
  readonly position: number;
  readonly call: number;
  /** Of the message that shows it, by estimate. */
  readonly tokens: number;
  /** Where that answer lies, when a revert has left it behind. */
  readonly branch?: string;
};

/** Spans that a view may have before its oldest are joined: keeps a state small for sessions of any length. */
const MAX_SPANS = 48;

export const EMPTY_VIEW: View = { branch: "main", spans: [] };

/** What a loop leaves of its view for the next one on the branch. */
export type LeftView = Omit<View, "branch">;

/** How old its tags are, only the run knows that made them: for the next one they are new. */
export function leftOf({ branch: _, tags, ...left }: View): LeftView {
  if (tags === undefined || tags.length === 0) return left;
  return { ...left, tags: tags.map((tag) => ({ ...tag, madeAt: 0 })) };
}

/** Whether everything is shown as it is, from the first entry on. */
export function isPlainView({ spans, liveFrom = 0, tags = [], faded }: View): boolean {
  return (
    liveFrom === 0 &&
    tags.length === 0 &&
    faded === undefined &&
    spans.every((span, index) => isWhole(span) && span.from === (spans[index - 1]?.to ?? 0))
  );
}

/** What this view costs in the context window, by estimate. */
export function viewTokens(view: View): number {
  return view.spans.reduce((total, span) => total + span.tokens, 0);
}

/** Adds entries to the newest turn, or begins one. */
export function extendView(view: View, entry: { position: number; tokens: number; newTurn: boolean }): View {
  const last = view.spans.at(-1);
  if (last !== undefined && !entry.newTurn && last.to === entry.position && isWhole(last)) {
    const grown = { ...last, to: entry.position + 1, tokens: last.tokens + entry.tokens };
    return { ...view, spans: [...view.spans.slice(0, -1), grown] };
  }
  const span = { from: entry.position, to: entry.position + 1, turns: 1, tokens: entry.tokens };
  return { ...view, spans: joinOldest([...view.spans, span]) };
}

/** The view with other spans between two of their borders. */
export function withSpans(view: View, from: number, to: number, spans: readonly Span[]): View {
  const before = view.spans.filter((span) => span.to <= from);
  const behind = view.spans.filter((span) => span.from >= to);
  return { ...view, spans: [...before, ...spans, ...behind] };
}

function joinOldest(spans: readonly Span[]): readonly Span[] {
  if (spans.length <= MAX_SPANS) return spans;
  const at = spans.findIndex((span, index) => joins(span, spans[index + 1]));
  const [first, second] = spans.slice(at, at + 2);
  if (first === undefined || second === undefined) return spans;
  return [...spans.slice(0, at), joined(first, second), ...spans.slice(at + 2)];
}

function joined(first: Span, second: Span): Span {
  return {
    ...first,
    to: second.to,
    turns: first.turns + second.turns,
    tokens: first.tokens + second.tokens,
  };
}

function joins(span: Span, next: Span | undefined): boolean {
  if (next === undefined || span.to !== next.from || next.memos !== undefined) return false;
  return isUncompacted(span) && isUncompacted(next) && span.words === next.words;
}

/** Pruned spans side by side are one: what is left of a session that was pruned a hundred times is a few spans. */
export function joinPruned(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = [];
  for (const span of spans) {
    const last = all.at(-1);
    if (last?.words === true && joins(last, span)) all[all.length - 1] = joined(last, span);
    else all.push(span);
  }
  return all;
}

export function isWhole(shown: Shown): boolean {
  return isUncompacted(shown) && shown.words === undefined;
}

function isUncompacted({ cut, instead }: Shown): boolean {
  return cut === undefined && instead === undefined;
}

/** Entries that the view shows, or lets a text stand for. */
export function viewLength(view: View): number {
  return view.spans.reduce((total, span) => total + span.to - span.from, 0);
}

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
    if (range.instead !== undefined) return [...memos, insteadOf(range.instead, own, find(range.instead))];
    const seen = own.flatMap((entry) => {
      if (!isLeft(range, entry, faded) || !isSeen(entry.message)) return [];
      const message = range.cut === undefined ? entry.message : cutToolResult(entry.message, range.cut);
      if (tagOf(entry) === undefined) at.set(message, entry.position);
      return [message];
    });
    return [...memos, ...seen];
  });
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
