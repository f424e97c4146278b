import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { EventBody } from "../../schema/loop-event.ts";
import type { AgentMessage, AssistantMessage, Content } from "../../schema/message.ts";
import { NO_USAGE } from "../budget/usage.ts";
import { isAttachment } from "../view/attachment.ts";
import { buildRejectedMessage, buildUserContent } from "./rejected-message.ts";
import type { Outbox, OutboxEntry } from "./state/outbox.ts";
import type { State } from "./state/state.ts";

export const EMPTY_OUTBOX: Outbox = { entries: [], events: [] };

export function isEmpty({ entries, events }: Outbox): boolean {
  return entries.length === 0 && events.length === 0;
}

/** Numbers an event of the open loop and adds it to the outbox. */
export function emit(state: State, body: EventBody): State {
  if (state.loop === undefined) return state;
  const event = { sequence: state.loop.eventCount, atMs: state.nowMs, body };
  return {
    ...state,
    loop: { ...state.loop, eventCount: state.loop.eventCount + 1 },
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
 * @param parts - The parts of a user message with images or files.
 */
export function buildOutboxMessage(
  entry: OutboxEntry,
  loopId: string,
  text?: string,
  parts?: readonly Content[],
): AgentMessage {
  const turnId = { loopId, turnIndex: entry.turn };
  const { body } = entry;
  switch (body.type) {
    case "user":
      return {
        role: "user",
        content: [
          ...buildUserContent(parts ?? text ?? body.message.text ?? "", body.message.filtered?.warning),
        ],
        timestamp: body.message.atMs,
        ...omitUndefined({ metadata: body.message.metadata }),
        turnId,
      };
    case "rejected":
      return buildRejectedMessage(
        text ?? body.message.text ?? "",
        body.reason,
        body.message.atMs,
        parts?.filter(isAttachment),
      );
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
        ...omitUndefined({ childLoopId: body.childLoopId }),
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
