import type { FadedBefore, LiveTag } from "./tag.ts";

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
  readonly faded?: FadedBefore;
};

/** The entries from `from` up to, not including, `to`. */
export type Span = SpanFormat & {
  readonly from: number;
  readonly to: number;
  readonly turns: number;
  /** What is shown of them, by estimate. */
  readonly tokens: number;
};

/** How entries are shown: as they are, or as a compaction has left them. */
export type SpanFormat = {
  /** Long texts of tool results are cut to about this many lines. */
  readonly cut?: number;
  /** Texts of tool results are cut to about this many characters. */
  readonly chars?: number;
  /** Words of people are cut to about this many characters. */
  readonly wordChars?: number;
  /** Words of people from this position on follow the text that stands for the entries. */
  readonly wordsFrom?: number;
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
export type ViewSnapshot = Omit<View, "branch">;

/** How old its tags are, only the run knows that made them: for the next one they are new. */
export function toViewSnapshot({ branch: _, tags, ...left }: View): ViewSnapshot {
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
export function sumViewTokens(view: View): number {
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
  return isUncompacted(span) && isUncompacted(next) && span.words === next.words;
}

/** Pruned spans side by side are one: what is left of a session that was pruned a hundred times is a few spans. */
export function joinPruned(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = [];
  for (const span of spans) {
    const last = all.at(-1);
    if (last?.words === true && canJoin(last, span)) all[all.length - 1] = joinSpans(last, span);
    else all.push(span);
  }
  return all;
}

export function isWhole(shown: SpanFormat): boolean {
  return isUncompacted(shown) && shown.words === undefined;
}

/** No compaction has changed it. */
export function isUncompacted({ cut, chars, wordChars, instead }: SpanFormat): boolean {
  return cut === undefined && chars === undefined && wordChars === undefined && instead === undefined;
}

/** Texts of these entries are cut in the middle, in a way that a tool reads the rest. */
export function isCutShort({ chars, wordChars }: SpanFormat): boolean {
  return chars !== undefined || wordChars !== undefined;
}

/** Entries that the view shows, or lets a text stand for. */
export function countEntries(view: View): number {
  return view.spans.reduce((total, span) => total + span.to - span.from, 0);
}
