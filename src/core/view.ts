import type { AgentMessage, Message, StopReason, ToolResultMessage } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";

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
export type Span = {
  readonly from: number;
  readonly to: number;
  readonly turns: number;
  readonly tokens: number;
};

/** Spans that a view may have before its oldest are joined: keeps a state small for sessions of any length. */
const MAX_SPANS = 48;

export const EMPTY_VIEW: View = { branch: "main", spans: [] };

/** What this view costs in the context window, by estimate. */
export function viewTokens(view: View): number {
  return view.spans.reduce((total, span) => total + span.tokens, 0);
}

/** Adds entries to the newest turn, or begins one. */
export function extendView(view: View, entry: { position: number; tokens: number; newTurn: boolean }): View {
  const last = view.spans.at(-1);
  if (last !== undefined && !entry.newTurn && last.to === entry.position) {
    const grown = { ...last, to: entry.position + 1, tokens: last.tokens + entry.tokens };
    return { ...view, spans: [...view.spans.slice(0, -1), grown] };
  }
  const span = { from: entry.position, to: entry.position + 1, turns: 1, tokens: entry.tokens };
  return { ...view, spans: joinOldest([...view.spans, span]) };
}

function joinOldest(spans: readonly Span[]): readonly Span[] {
  if (spans.length <= MAX_SPANS) return spans;
  const at = spans.findIndex((span, index) => span.to === spans[index + 1]?.from);
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

/** A view as it travels to an activity: the ranges to be read, neighbours joined. */
export type ViewRanges = {
  readonly branch: string;
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
};

export function rangesOf(view: View): ViewRanges {
  const ranges: { from: number; to: number }[] = [];
  for (const span of view.spans) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to === span.from) last.to = span.to;
    else ranges.push({ from: span.from, to: span.to });
  }
  return { branch: view.branch, ranges };
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
 * @param entries - In order of position; those outside the view are left out.
 */
export function materialise({ ranges }: ViewRanges, entries: readonly Entry[]): readonly Message[] {
  const seen = entries.filter(({ position }) =>
    ranges.some(({ from, to }) => position >= from && position < to),
  );
  return answerOrphans(seen.map(({ message }) => message).filter(isSent));
}

/** A vendor refuses a conversation that holds what it has refused to say. */
const NEVER_SENT: ReadonlySet<StopReason> = new Set(["error", "aborted", "guardRail"]);

function isSent(message: AgentMessage): message is Message {
  if (message.role === "extension") return false;
  return message.role !== "assistant" || !NEVER_SENT.has(message.stopReason);
}

/** Gives every call its result right behind its answer, and drops results that no answer asked for. */
function answerOrphans(messages: readonly Message[]): readonly Message[] {
  const answered: Message[] = [];
  let open = new Map<string, string>();
  const closeOpen = (atMs: number) => {
    for (const [toolCallId, toolName] of open) answered.push(unanswered(toolCallId, toolName, atMs));
    open = new Map();
  };
  for (const message of messages) {
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
