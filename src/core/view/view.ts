import type { FadedBefore, LiveTag } from "./tag.ts";

/**
 * The entries that the model sees, as data, so that the view of any turn can be rebuilt at any time.
 *
 * A `turn` groups entries that must stay together: an answer and the results of its calls.
 */
export type View = {
  readonly branch: string;
  /** In order, without overlaps. The newest are separate; older ones are joined to a few. */
  readonly spans: readonly Span[];
  /** Entries before this position are the result of a compaction and are never pruned (PRUN-09). Absent: 0. */
  readonly prunableFrom?: number;
  /** Lessons and findings that are still visible, oldest first. */
  readonly tags?: readonly LiveTag[];
  /** Tags that are no longer visible. */
  readonly fadedBefore?: FadedBefore;
};

/** The entries from `from` (inclusive) to `to` (exclusive). */
export type Span = SpanFormat & {
  readonly from: number;
  readonly to: number;
  readonly turns: number;
  /** The estimated tokens of what is visible of them. */
  readonly tokens: number;
};

/** The form in which entries are visible: unchanged, or as a compaction has left them. */
export type SpanFormat = {
  /** Long texts of tool results are cut to about this many lines. */
  readonly maxLines?: number;
  /** Texts of tool results are cut to about this many characters. */
  readonly maxChars?: number;
  /** User messages are cut to about this many characters. */
  readonly maxUserChars?: number;
  /** User messages from this position on follow the text that stands for the entries. */
  readonly userTextFrom?: number;
  /** A text replaces the entries: this section of the compaction in the entry at `position`, possibly of another branch. */
  readonly replacement?: { readonly position: number; readonly section: number; readonly branch?: string };
  /** The entries are pruned: only user messages remain visible. */
  readonly isPruned?: true;
  /** Precede the visible entries. */
  readonly memos?: readonly MemoRef[];
};

/** A memo is an argument of a call: the one with the index `call` in the answer at `position`. */
export type MemoRef = {
  readonly position: number;
  readonly call: number;
  /** The estimated tokens of the message with the memo. */
  readonly tokens: number;
  /** The branch of that answer, when a revert has left it. */
  readonly branch?: string;
};

/** The maximum number of spans before the oldest are joined: keeps the state small for sessions of any length. */
const MAX_SPANS = 48;

export const EMPTY_VIEW: View = { branch: "main", spans: [] };

/** What a loop leaves of its view for the next one on the branch. */
export type ViewSnapshot = Omit<View, "branch">;

/** Only the run that made its tags knows their age; for the next run they are new. */
export function toViewSnapshot({ branch: _, tags, ...left }: View): ViewSnapshot {
  if (tags === undefined || tags.length === 0) return left;
  return { ...left, tags: tags.map((tag) => ({ ...tag, createdAtTurn: 0 })) };
}

/** Reports whether all entries from the first one on are visible and unchanged. */
export function isPlainView({ spans, prunableFrom = 0, tags = [], fadedBefore }: View): boolean {
  return (
    prunableFrom === 0 &&
    tags.length === 0 &&
    fadedBefore === undefined &&
    spans.every((span, index) => isWhole(span) && span.from === (spans[index - 1]?.to ?? 0))
  );
}

/** Sums the estimated tokens of this view. */
export function sumViewTokens(view: View): number {
  return view.spans.reduce((total, span) => total + span.tokens, 0);
}

/** Adds an entry to the newest turn, or starts a new turn. */
export function extendView(view: View, entry: { position: number; tokens: number; newTurn: boolean }): View {
  const last = view.spans.at(-1);
  if (last !== undefined && !entry.newTurn && last.to === entry.position && isWhole(last)) {
    const grown = { ...last, to: entry.position + 1, tokens: last.tokens + entry.tokens };
    return { ...view, spans: [...view.spans.slice(0, -1), grown] };
  }
  const span = { from: entry.position, to: entry.position + 1, turns: 1, tokens: entry.tokens };
  return { ...view, spans: joinOldest([...view.spans, span]) };
}

/** Returns the view with other spans between two of its borders. */
export function replaceSpans(view: View, from: number, to: number, spans: readonly Span[]): View {
  const before = view.spans.filter((span) => span.to <= from);
  const following = view.spans.filter((span) => span.from >= to);
  return { ...view, spans: [...before, ...spans, ...following] };
}

function joinOldest(spans: readonly Span[]): readonly Span[] {
  if (spans.length <= MAX_SPANS) return spans;
  const at = spans.findIndex((span, index) => canJoin(span, spans[index + 1]));
  const [first, second] = spans.slice(at, at + 2);
  if (first === undefined || second === undefined) return spans;
  return [...spans.slice(0, at), joinSpans(first, second), ...spans.slice(at + 2)];
}

function joinSpans(first: Span, second: Span): Span {
  return {
    ...first,
    to: second.to,
    turns: first.turns + second.turns,
    tokens: first.tokens + second.tokens,
  };
}

function canJoin(span: Span, next: Span | undefined): boolean {
  if (next === undefined || span.to !== next.from || next.memos !== undefined) return false;
  return isUncompacted(span) && isUncompacted(next) && span.isPruned === next.isPruned;
}

/** Joins adjacent pruned spans, so that a session that was pruned a hundred times has only a few spans. */
export function joinPruned(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = [];
  for (const span of spans) {
    const last = all.at(-1);
    if (last?.isPruned === true && canJoin(last, span)) all[all.length - 1] = joinSpans(last, span);
    else all.push(span);
  }
  return all;
}

export function isWhole(shown: SpanFormat): boolean {
  return isUncompacted(shown) && shown.isPruned === undefined;
}

/** Reports whether no compaction has changed the entries. */
export function isUncompacted({ maxLines, maxChars, maxUserChars, replacement }: SpanFormat): boolean {
  return (
    maxLines === undefined &&
    maxChars === undefined &&
    maxUserChars === undefined &&
    replacement === undefined
  );
}

/** Reports whether texts of these entries are cut in the middle, so that a tool can read the rest. */
export function isCutShort({ maxChars, maxUserChars }: SpanFormat): boolean {
  return maxChars !== undefined || maxUserChars !== undefined;
}

/** Counts the entries that the view shows or replaces with a text. */
export function countEntries(view: View): number {
  return view.spans.reduce((total, span) => total + span.to - span.from, 0);
}
