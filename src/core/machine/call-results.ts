import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { EventBody } from "../../schema/loop-event.ts";
import { extendView } from "../view/view.ts";
import { appendAtPosition, emitMessageEvents, estimateBody } from "./append-message.ts";
import { emit } from "./outbox.ts";
import { hasHook } from "./run-hooks.ts";
import type { Call, CallStatus } from "./state/call-status.ts";
import type { CallDigest } from "./state/digest.ts";
import type { OutboxBody } from "./state/outbox.ts";
import type { State } from "./state/state.ts";

// The results of an answer's calls: their events, results that the machine writes itself, and how they join the view.

/** Answers calls of the final tool, which are judged and never run. Each gets the verdict as its result. */
export function answerFinalCalls(
  state: State,
  position: number,
  calls: readonly CallDigest[],
  verdict: { readonly text: string; readonly accepted: boolean },
): State {
  let next = state;
  const done = calls.map((digest, index): Call => {
    const call: Call = { ...digest, status: { type: "pending" } };
    const body: OutboxBody = {
      ...buildResultBody(call, verdict.text),
      ...(verdict.accepted ? { accepted: true } : {}),
    };
    next = emit(next, buildStartEvent(call, position));
    next = appendAtPosition(next, position + 1 + index, "machine", body);
    next = emitEndEvents(next, position, call, index, !verdict.accepted);
    return {
      ...call,
      status: { type: "done", isError: !verdict.accepted, tokens: estimateBody(body) },
    };
  });
  return joinResults(next, position, done);
}

export function buildStartEvent({ id, name, permission }: Call, position: number): EventBody {
  return {
    type: "ToolExecutionStart",
    toolCallId: id,
    toolName: name,
    position,
    ...omitUndefined({ permission }),
  };
}

/** Answers a call from the machine itself: the result waits in the outbox, at the call's own position. */
export function answerCall(state: State, answer: number, call: Call, index: number, text: string): State {
  const placed = appendAtPosition(state, answer + 1 + index, "machine", buildResultBody(call, text));
  return emitEndEvents(placed, answer, call, index, true);
}

function buildResultBody(call: Call, text: string): Extract<OutboxBody, { type: "result" }> {
  return { type: "result", toolCallId: call.id, toolName: call.name, text };
}

export function buildDoneStatus(call: Call, text: string): Extract<CallStatus, { type: "done" }> {
  return { type: "done", isError: true, tokens: estimateBody(buildResultBody(call, text)) };
}

export function emitEndEvents(
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
    ...omitUndefined({ childLoopId: child }),
    ...(isDenied(call) ? { permission: call.permission } : {}),
    ...(call.questions === undefined ? {} : { questions: [...call.questions] }),
  });
  return awaitsAfterToolHooks(state, call) ? ended : emitMessageEvents(ended, position);
}

/** Reports whether hooks are still to be notified of this call, which has run. */
export function awaitsAfterToolHooks(state: State, call: Call): boolean {
  return hasRun(call) && hasHook(state, "after-tool");
}

/** Reports whether the call was denied and never ran: its End has no Start. */
function isDenied(call: Call): boolean {
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
  return { ...state, view, length, phase: { type: "turn-ended", position, results: calls.length } };
}
