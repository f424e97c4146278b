import type { AgentMessage, AssistantMessage } from "../../schema/message.ts";
import type { EntryOrigin, EventBody } from "../../schema/record.ts";
import { NO_USAGE } from "../budget/usage.ts";
import { buildRejectedMessage, buildUserContent } from "./rejected-message.ts";
import type { InboundMessage, State } from "./state/state.ts";

/** What waits to be written down: it rides in the input of the next activity, which writes it first. */
export type Outbox = { readonly entries: readonly OutboxEntry[]; readonly events: readonly OutboxEvent[] };

/** A message that no activity has made: words of a person, or a short text of the machine itself. */
export type OutboxEntry = {
  readonly position: number;
  readonly origin: EntryOrigin;
  readonly atMs: number;
  readonly turn: number;
  readonly body: OutboxBody;
  /** It belongs to what a fork leaves. */
  readonly left?: true;
};

/** A branch that is to be begun: the same for everybody who begins it for the same run. */
export type NewBranch = {
  /** Its first position. */
  readonly at: number;
  /** The answer that has asked for it. */
  readonly by: number;
};

export type OutboxBody =
  | { readonly type: "person"; readonly message: InboundMessage }
  /** A person's message that a filter has refused: kept where no model sees it. */
  | { readonly type: "refused"; readonly message: InboundMessage; readonly reason: string }
  | { readonly type: "notice"; readonly text: string }
  /** Says why a call was not run, unless it is `accepted`. */
  | {
      readonly type: "result";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly text: string;
      readonly accepted?: true;
    }
  /** What a sub-agent has come to: its own last words, and ours behind them. */
  | {
      readonly type: "report";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly isError: boolean;
      readonly text: string;
      /** Where its words stand; absent where it has said nothing. */
      readonly from?: { readonly session: string; readonly branch: string; readonly position: number };
      readonly messages: number;
      readonly childLoopId?: string;
    }
  | { readonly type: "no-answer"; readonly stopReason: "error" | "aborted"; readonly errorMessage: string };

export type OutboxEvent = { readonly sequence: number; readonly atMs: number; readonly body: EventBody };

export const EMPTY_OUTBOX: Outbox = { entries: [], events: [] };

export function isEmpty({ entries, events }: Outbox): boolean {
  return entries.length === 0 && events.length === 0;
}

/** Numbers an event of the open loop and lets it wait. */
export function emit(state: State, body: EventBody): State {
  if (state.loop === undefined) return state;
  const event = { sequence: state.loop.events, atMs: state.nowMs, body };
  return {
    ...state,
    loop: { ...state.loop, events: state.loop.events + 1 },
    outbox: { ...state.outbox, events: [...state.outbox.events, event] },
  };
}

/** What a command takes along when it is given out now. */
export function measureOutbox(outbox: Outbox): { entries: number; events: number } {
  return { entries: outbox.entries.length, events: outbox.events.length };
}

/** The part of the outbox that a command took along. */
export function takeOutbox(outbox: Outbox, size: { entries: number; events: number }): Outbox {
  return {
    entries: outbox.entries.slice(0, size.entries),
    events: outbox.events.slice(0, size.events),
  };
}

/** The first position that a command may write: its own, or that of a message which it takes along. */
export function findBasePosition(outbox: Outbox, ownPosition: number): number {
  return Math.min(ownPosition, ...outbox.entries.map(({ position }) => position));
}

/** The outbox after that part was written. */
export function drainOutbox(outbox: Outbox, size: { entries: number; events: number }): Outbox {
  return { entries: outbox.entries.slice(size.entries), events: outbox.events.slice(size.events) };
}

/**
 * The message of an outbox entry, as the transcript holds it.
 *
 * @param text - The words of a person's message, or of a sub-agent, that travelled as a reference.
 */
export function buildOutboxMessage(entry: OutboxEntry, loopId: string, text?: string): AgentMessage {
  const turnId = { loopId, turnIndex: entry.turn };
  const { body } = entry;
  switch (body.type) {
    case "person":
      return {
        role: "user",
        content: [...buildUserContent(text ?? body.message.text ?? "", body.message.filtered?.warning)],
        timestamp: body.message.atMs,
        turnId,
      };
    case "refused":
      return buildRejectedMessage(text ?? body.message.text ?? "", body.reason, body.message.atMs);
    case "notice":
      return { role: "user", content: [{ type: "text", text: body.text }], timestamp: entry.atMs, turnId };
    case "result":
      return {
        role: "toolResult",
        toolCallId: body.toolCallId,
        toolName: body.toolName,
        content: [{ type: "text", text: body.text }],
        isError: body.accepted !== true,
        timestamp: entry.atMs,
        turnId,
      };
    case "report":
      return {
        role: "toolResult",
        toolCallId: body.toolCallId,
        toolName: body.toolName,
        content: [{ type: "text", text: formatReport(text, body.text) }],
        details: { sub_agent: body.toolName, turns: body.messages },
        isError: body.isError,
        ...(body.childLoopId === undefined ? {} : { childLoopId: body.childLoopId }),
        timestamp: entry.atMs,
        turnId,
      };
    case "no-answer":
      return { ...buildNoAnswer(body.stopReason, body.errorMessage, entry.atMs), turnId };
  }
}

/** SUB-05, SUB-06. */
export const NO_TEXT = "(sub-agent produced no text output)";

function formatReport(text: string | undefined, ours: string): string {
  const body = text === undefined || text === "" ? NO_TEXT : text;
  return ours === "" ? body : `${body}\n\n${ours}`;
}

/** What stands for an answer that there is none of. */
export function buildNoAnswer(
  stopReason: "error" | "aborted",
  errorMessage: string,
  timestamp: number,
): AssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text: "" }],
    stopReason,
    model: "unknown",
    provider: "unknown",
    usage: NO_USAGE,
    errorMessage,
    timestamp,
  };
}
