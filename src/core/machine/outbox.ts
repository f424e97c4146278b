import type { AgentMessage, AssistantMessage } from "../../schema/message.ts";
import type { EntryOrigin, EventBody } from "../../schema/record.ts";
import { NO_USAGE } from "../budget/usage.ts";
import { buildRejectedMessage, buildUserContent } from "./rejected-message.ts";
import type { InboundMessage, State } from "./state/state.ts";

/** What waits to be written. The next activity takes it as input and writes it first. */
export type Outbox = { readonly entries: readonly OutboxEntry[]; readonly events: readonly OutboxEvent[] };

/** A message that no activity has made: a user message, or a short text of the machine itself. */
export type OutboxEntry = {
  readonly position: number;
  readonly origin: EntryOrigin;
  readonly atMs: number;
  readonly turn: number;
  readonly body: OutboxBody;
  /** The entry is on the branch that a fork leaves. */
  readonly left?: true;
};

/** A branch that is to begin. Every step of the same run that begins it creates the same branch. */
export type NewBranch = {
  /** Its first position. */
  readonly at: number;
  /** The position of the answer that has requested it. */
  readonly by: number;
};

export type OutboxBody =
  | { readonly type: "person"; readonly message: InboundMessage }
  /** A user message that a filter has rejected: stored where no model sees it. */
  | { readonly type: "refused"; readonly message: InboundMessage; readonly reason: string }
  | { readonly type: "notice"; readonly text: string }
  /** States why a call was not run, unless it is `accepted`. */
  | {
      readonly type: "result";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly text: string;
      readonly accepted?: true;
    }
  /** The result of a sub-agent: its own last text, followed by ours. */
  | {
      readonly type: "report";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly isError: boolean;
      readonly text: string;
      /** The position of its text; absent when it has none. */
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

/** Numbers an event of the open loop and adds it to the outbox. */
export function emit(state: State, body: EventBody): State {
  if (state.loop === undefined) return state;
  const event = { sequence: state.loop.events, atMs: state.nowMs, body };
  return {
    ...state,
    loop: { ...state.loop, events: state.loop.events + 1 },
    outbox: { ...state.outbox, events: [...state.outbox.events, event] },
  };
}

/** Measures what a command carries when it is dispatched at this moment. */
export function measureOutbox(outbox: Outbox): { entries: number; events: number } {
  return { entries: outbox.entries.length, events: outbox.events.length };
}

/** Returns the part of the outbox that a command carries. */
export function takeOutbox(outbox: Outbox, size: { entries: number; events: number }): Outbox {
  return {
    entries: outbox.entries.slice(0, size.entries),
    events: outbox.events.slice(0, size.events),
  };
}

/** Returns the first position that a command may write: its own, or that of a message that it carries. */
export function findBasePosition(outbox: Outbox, ownPosition: number): number {
  return Math.min(ownPosition, ...outbox.entries.map(({ position }) => position));
}

/** Returns the outbox after that part was written. */
export function drainOutbox(outbox: Outbox, size: { entries: number; events: number }): Outbox {
  return { entries: outbox.entries.slice(size.entries), events: outbox.events.slice(size.events) };
}

/**
 * Builds the message of an outbox entry in the form in which the transcript stores it.
 *
 * @param text - The text of a user message or of a sub-agent that travelled as a reference.
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

/** Builds the message that stands for a missing answer. */
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
