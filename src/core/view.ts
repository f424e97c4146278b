import type { AgentMessage, Message, StopReason, ToolResultMessage, UserMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import { cutToolResult } from "./compaction/cut-text.ts";
import { standIn } from "./compaction/stand-in.ts";
import { ProtocolError } from "./protocol-error.ts";
import { REFUSED_KIND } from "./refused.ts";

/**
 * Which entries the model sees: data, so that what it saw at any turn can be shown again at any time.
 *
 * A `turn` keeps together what must not be parted: an answer and the results of its calls.
 */
export type View = {
  readonly branch: string;
  /** In order, without overlaps; the newest ones one by one, older ones joined to a few. */
  readonly spans: readonly Span[];
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
  /** A text stands for them: this section of the compaction that is the entry at `position`. */
  readonly instead?: { readonly position: number; readonly section: number };
};

/** Spans that a view may have before its oldest are joined: keeps a state small for sessions of any length. */
const MAX_SPANS = 48;

export const EMPTY_VIEW: View = { branch: "main", spans: [] };

/** Whether everything is shown as it is, from the first entry on. */
export function showsAll({ spans }: View): boolean {
  return spans.every((span, index) => isWhole(span) && span.from === (spans[index - 1]?.to ?? 0));
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

function joinOldest(spans: readonly Span[]): readonly Span[] {
  if (spans.length <= MAX_SPANS) return spans;
  const at = spans.findIndex((span, index) => joins(span, spans[index + 1]));
  const [first, second] = spans.slice(at, at + 2);
  if (first === undefined || second === undefined) return spans;
  const joined = {
    from: first.from,
    to: second.to,
    turns: first.turns + second.turns,
    tokens: first.tokens + second.tokens,
  };
  return [...spans.slice(0, at), joined, ...spans.slice(at + 2)];
}

function joins(span: Span, next: Span | undefined): boolean {
  return next !== undefined && span.to === next.from && isWhole(span) && isWhole(next);
}

function isWhole({ cut, instead }: Shown): boolean {
  return cut === undefined && instead === undefined;
}

/** Entries that the view shows, or lets a text stand for. */
export function viewLength(view: View): number {
  return view.spans.reduce((total, span) => total + span.to - span.from, 0);
}

export type Range = Shown & { readonly from: number; readonly to: number };

/** A view as it travels to an activity: the ranges to be read, neighbours joined. */
export type ViewRanges = { readonly branch: string; readonly ranges: readonly Range[] };

export function rangesOf(view: View): ViewRanges {
  const ranges: Range[] = [];
  for (const { from, to, cut, instead } of view.spans) {
    const last = ranges.at(-1);
    const range = {
      from,
      to,
      ...(cut === undefined ? {} : { cut }),
      ...(instead === undefined ? {} : { instead }),
    };
    if (last !== undefined && last.to === from && isSame(last, range)) {
      ranges[ranges.length - 1] = { ...last, to };
    } else ranges.push(range);
  }
  return { branch: view.branch, ranges };
}

/** Two texts that stand for something are never one. */
function isSame(one: Shown, other: Shown): boolean {
  return one.instead === undefined && other.instead === undefined && one.cut === other.cut;
}

/** What an answer is told of a call that nobody ever answered, because its run was terminated. */
export const UNANSWERED_CALL =
  "No result: the run ended before this call was finished. Look before you repeat it.";

/**
 * The messages that a model sees, in order of position.
 *
 * Failed, aborted and filtered answers stay in the record and out of the view, extension messages too. A call without
 * a result gets one that says so: vendors refuse an orphan.
 *
 * @param entries - In order of position; those outside the view are left out. With the entries of the compactions
 * whose texts the view shows.
 */
export function materialise(view: ViewRanges, entries: readonly Entry[]): readonly Message[] {
  return answerOrphans(seenOf(view, entries, isSent));
}

/** The same, with what an application keeps in the conversation for itself. */
export function materialiseAll(view: ViewRanges, entries: readonly Entry[]): readonly AgentMessage[] {
  return answerOrphans(seenOf(view, entries, isSeenByApplication));
}

function seenOf<Seen extends AgentMessage>(
  { ranges }: ViewRanges,
  entries: readonly Entry[],
  isSeen: (message: AgentMessage) => message is Seen,
): readonly (Seen | UserMessage)[] {
  let at = 0;
  return ranges.flatMap((range): readonly (Seen | UserMessage)[] => {
    while (at < entries.length && (entries[at] as Entry).position < range.from) at++;
    const begin = at;
    while (at < entries.length && (entries[at] as Entry).position < range.to) at++;
    const own = entries.slice(begin, at);
    if (range.instead !== undefined) return [insteadOf(range.instead, own, entries)];
    const seen = own.map(({ message }) => message).filter(isSeen);
    const { cut } = range;
    return cut === undefined ? seen : seen.map((message) => cutToolResult(message, cut));
  });
}

/** What the first position behind everything that a view needs is. */
export function viewEnd({ ranges }: ViewRanges): number {
  return Math.max(0, ...ranges.map(({ to, instead }) => Math.max(to, (instead?.position ?? -1) + 1)));
}

function insteadOf(
  { position, section }: NonNullable<Shown["instead"]>,
  own: readonly Entry[],
  entries: readonly Entry[],
): UserMessage {
  const text = compactionTexts(entries.find((entry) => entry.position === position)?.message)[section];
  if (text === undefined)
    throw new ProtocolError(`Entry ${position} holds no section ${section} of a compaction`);
  return standIn(text, own.at(-1)?.message.timestamp ?? 0);
}

/** How a compaction stands in the record: an entry that no model sees, with the texts that stand for others. */
export const COMPACTION_KIND = "compaction";

function compactionTexts(message: AgentMessage | undefined): readonly (string | undefined)[] {
  if (message?.role !== "extension" || message.kind !== COMPACTION_KIND) return [];
  const { sections } = message.data as { sections?: readonly { text?: string }[] };
  return (sections ?? []).map(({ text }) => text);
}

/** What the machine keeps in the record for people. */
const OWN_KINDS: ReadonlySet<string> = new Set([COMPACTION_KIND, REFUSED_KIND]);

export function isKeptForPeople(message: AgentMessage): boolean {
  return message.role === "extension" && OWN_KINDS.has(message.kind);
}

function isSeenByApplication(message: AgentMessage): message is AgentMessage {
  return message.role === "extension" ? !isKeptForPeople(message) : isSent(message);
}

/** A vendor refuses a conversation that holds what it has refused to say. */
const NEVER_SENT: ReadonlySet<StopReason> = new Set(["error", "aborted", "guardRail"]);

function isSent(message: AgentMessage): message is Message {
  if (message.role === "extension") return false;
  return message.role !== "assistant" || !NEVER_SENT.has(message.stopReason);
}

/** Gives every call its result right behind its answer, and drops results that no answer asked for. */
function answerOrphans<Seen extends AgentMessage>(
  messages: readonly Seen[],
): readonly (Seen | ToolResultMessage)[] {
  const answered: (Seen | ToolResultMessage)[] = [];
  let open = new Map<string, string>();
  const closeOpen = (atMs: number) => {
    for (const [toolCallId, toolName] of open) answered.push(unanswered(toolCallId, toolName, atMs));
    open = new Map();
  };
  for (const message of messages) {
    if (message.role === "extension") {
      answered.push(message);
      continue;
    }
    if (message.role === "toolResult") {
      if (open.delete(message.toolCallId)) answered.push(message);
      continue;
    }
    closeOpen(message.timestamp);
    answered.push(message);
    if (message.role === "assistant") {
      for (const part of message.content) if (part.type === "toolCall") open.set(part.id, part.name);
    }
  }
  closeOpen(messages.at(-1)?.timestamp ?? 0);
  return answered;
}

function unanswered(toolCallId: string, toolName: string, timestamp: number): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId,
    toolName,
    content: [{ type: "text", text: UNANSWERED_CALL }],
    isError: true,
    timestamp,
  };
}
