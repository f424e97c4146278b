import type { EventBody } from "../../schema/record.ts";
import { extendView } from "../view/view.ts";
import { estimateBody, messageEvents, placeAt } from "./append.ts";
import { hasHook } from "./hooking.ts";
import { emit, type OutboxBody } from "./outbox.ts";
import type { Call, CallStatus } from "./state/calling.ts";
import type { CallDigest } from "./state/digest.ts";
import type { State } from "./state/state.ts";

// The results of an answer's calls: the events around them, what the machine answers itself, and how they join the view.

/** Calls of the final tool: they are judged, never run. Each gets the verdict as its result. */
export function answerFinal(
  state: State,
  position: number,
  calls: readonly CallDigest[],
  verdict: { readonly text: string; readonly accepted: boolean },
): State {
  let next = state;
  const done = calls.map((digest, index): Call => {
    const call: Call = { ...digest, status: { type: "pending" } };
    const body: OutboxBody = {
      ...resultBody(call, verdict.text),
      ...(verdict.accepted ? { accepted: true } : {}),
    };
    next = emit(next, startEvent(call, position));
    next = placeAt(next, position + 1 + index, "machine", body);
    next = endEvents(next, position, call, index, !verdict.accepted);
    return {
      ...call,
      status: { type: "done", isError: !verdict.accepted, tokens: estimateBody(body) },
    };
  });
  return joinResults(next, position, done);
}

export function startEvent({ id, name, permission }: Call, position: number): EventBody {
  return {
    type: "ToolExecutionStart",
    toolCallId: id,
    toolName: name,
    position,
    ...(permission === undefined ? {} : { permission }),
  };
}

/** The machine answers a call itself: the result waits in the outbox, at the call's own position. */
export function answerCall(state: State, answer: number, call: Call, index: number, text: string): State {
  const placed = placeAt(state, answer + 1 + index, "machine", resultBody(call, text));
  return endEvents(placed, answer, call, index, true);
}

function resultBody(call: Call, text: string): Extract<OutboxBody, { type: "result" }> {
  return { type: "result", toolCallId: call.id, toolName: call.name, text };
}

export function doneWith(call: Call, text: string): Extract<CallStatus, { type: "done" }> {
  return { type: "done", isError: true, tokens: estimateBody(resultBody(call, text)) };
}

export function endEvents(
  state: State,
  answer: number,
  call: Call,
  index: number,
  isError: boolean,
  child?: string,
): State {
  const position = answer + 1 + index;
  const ended = emit(state, {
    type: "ToolExecutionEnd",
    toolCallId: call.id,
    toolName: call.name,
    position,
    isError,
    ...(child === undefined ? {} : { childLoopId: child }),
    ...(isRefused(call) ? { permission: call.permission } : {}),
    ...(call.questions === undefined ? {} : { questions: [...call.questions] }),
  });
  return isUntold(state, call) ? ended : messageEvents(ended, position);
}

/** Hooks hear of calls that have run. */
export function isUntold(state: State, call: Call): boolean {
  return hasRun(call) && hasHook(state, "after-tool");
}

/** It never ran: its End has no Start. */
function isRefused(call: Call): boolean {
  return call.permission !== undefined && !hasRun(call);
}

function hasRun({ status, questions }: Call): boolean {
  return status.type === "running" || questions !== undefined;
}

export function joinResults(state: State, position: number, calls: readonly Call[]): State {
  let view = state.view;
  calls.forEach((call, index) => {
    const tokens = call.status.type === "done" ? call.status.tokens : 0;
    view = extendView(view, { position: position + 1 + index, tokens, newTurn: false });
  });
  const length = position + 1 + calls.length;
  return { ...state, view, length, phase: { type: "turn-over", position, results: calls.length } };
}
