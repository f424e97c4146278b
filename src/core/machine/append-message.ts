import type { EntryOrigin } from "../../schema/record.ts";
import { estimateText } from "../view/estimate.ts";
import { extendView } from "../view/view.ts";
import { emit } from "./outbox.ts";
import type { InboundMessage } from "./state/inbound-message.ts";
import type { OutboxBody } from "./state/outbox.ts";
import type { State } from "./state/state.ts";

/** Adds a message to the outbox at the next position, with its pair of events. */
export function appendMessage(state: State, origin: EntryOrigin, body: OutboxBody, newTurn: boolean): State {
  const position = state.length;
  const placed = appendAtPosition(state, position, origin, body);
  const grown = {
    ...placed,
    length: position + 1,
    view: extendView(placed.view, { position, tokens: estimateBody(body), newTurn }),
  };
  return emitMessageEvents(grown, position);
}

/** Adds a message to the outbox at a reserved position, without events. */
export function appendAtPosition(
  state: State,
  position: number,
  origin: EntryOrigin,
  body: OutboxBody,
): State {
  const entry = { position, origin, atMs: state.nowMs, turn: state.loop?.turn ?? 0, body };
  return { ...state, outbox: { ...state.outbox, entries: [...state.outbox.entries, entry] } };
}

export function emitMessageEvents(state: State, position: number): State {
  return emit(emit(state, { type: "MessageStart", position }), { type: "MessageEnd", position });
}

/**
 * Emits the events of the messages that opened a loop: in its first turn (LOOP-03, X-05), or before its end when no turn
 * begins. `open-loop` has written the messages themselves.
 */
export function emitPromptEvents(state: State): State {
  if (state.loop?.hasUnreadPrompts !== true) return state;
  const { hasUnreadPrompts: _, ...loop } = state.loop;
  let next: State = { ...state, loop };
  for (let position = loop.from; position < state.length; position++)
    next = emitMessageEvents(next, position);
  return next;
}

/** Estimates a message without its full text (CTX-03): its text and the fixed overhead. A reference counts as 32 KiB. */
export function estimateBody(body: OutboxBody): number {
  switch (body.type) {
    case "user":
      return 4 + estimateInboundMessage(body.message);
    case "rejected":
      return 0;
    case "notice":
      return 4 + estimateText(body.text);
    case "result":
      return 8 + estimateText(body.text) + estimateText(body.toolName);
    case "report":
      return 8 + estimateText(body.text) + estimateText(body.toolName);
    case "no-answer":
      return 0;
  }
}

function estimateInboundMessage({ text, tokens: known, filtered }: InboundMessage): number {
  const tokens = text === undefined ? (known ?? INLINE_BYTES / 4) : estimateText(text);
  return filtered?.warning === undefined ? tokens : tokens + estimateText(filtered.warning);
}

/** The longest user message in bytes of UTF-8: more than any model reads. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** The longest user message that travels in history (design 3.2). Longer texts are stored first. */
export const INLINE_BYTES = 32 * 1024;
