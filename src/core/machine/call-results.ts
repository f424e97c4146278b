import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { EventBody } from "../../schema/loop-event.ts";
import { extendView } from "../view/view.ts";
import { appendAtPosition, emitMessageEvents, estimateBody } from "./append-message.ts";
import { emit } from "./outbox.ts";
import { hasHook } from "./run-hooks.ts";
import type { Call, DoneStatus } from "./state/call-status.ts";
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
  const tokens = calls.map((digest, index) => {
    const call = buildPendingCall(digest);
    const body: OutboxBody = {
      ...buildResultBody(call, verdict.text),
      ...(verdict.accepted ? { accepted: true } : {}),
    };
    next = emit(next, buildStartEvent(call, position));
    next = appendAtPosition(next, position + 1 + index, "machine", body);
    next = emitEndEvents(next, position, call, index, !verdict.accepted);
    return estimateBody(body);
  });
  return joinResults(next, position, tokens);
}

export function buildPendingCall(digest: CallDigest): Call {
  return { ...digest, status: { type: "pending" } };
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

export function buildDoneStatus(call: Call, text: string): DoneStatus {
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
    ...omitUndefined({ childLoopId: child, permission: getDecisionWithoutStart(call) }),
    ...(call.questions === undefined ? {} : { questions: [...call.questions] }),
  });
  return awaitsAfterToolHooks(state, call) ? ended : emitMessageEvents(ended, position);
}

/** Reports whether hooks are still to be notified of this call, which has run. */
export function awaitsAfterToolHooks(state: State, call: Call): boolean {
  return hasRun(call) && hasHook(state, "after-tool");
}

/** Returns the decision on a call that never ran: it has no Start, which would tell the decision. */
function getDecisionWithoutStart(call: Call): Call["permission"] {
  return hasRun(call) ? undefined : call.permission;
}

function hasRun({ status, questions }: Call): boolean {
  return status.type === "running" || questions !== undefined;
}

/** Adds the results of an answer's calls to the view, in call order, each with its tokens. */
export function joinResults(state: State, position: number, results: readonly number[]): State {
  const view = results.reduce(
    (joined, tokens, index) => extendView(joined, { position: position + 1 + index, tokens, newTurn: false }),
    state.view,
  );
  return { ...state, view, length: position + 1 + results.length };
}
