import { estimateBody, messageEvents, placeAt } from "./append.ts";
import type { CallDigest, ToolDigest } from "./digest.ts";
import { issue, MAX_LOST_IN_A_ROW, settle } from "./issue.ts";
import { baseOf, emit, type OutboxBody } from "./outbox.ts";
import { type PhaseOf, pinnedOf } from "./phase.ts";
import type { Setback } from "./run-event.ts";
import type { Call, CallStatus, State } from "./state.ts";
import { extendView } from "./view.ts";

// The calls of one answer, unit by unit: one call, a batch, or all of them, by strategy (TOOL-07). Results stand
// behind the answer in call order, whichever ends first (TOOL-08).

/** STEER-05, X-06. */
export const SKIPPED_TEXT = "Skipped due to queued user message.";
export const CANCELLED_TEXT = "Cancelled";
/** GAP-05, PHI-13m. */
export const CUT_OFF_TEXT =
  "Not run: the answer was cut off by the output limit before its calls were complete. Ask again, in smaller pieces.";

type Calling = PhaseOf<"calling-tools">;

/** @param cutOff - The answer ended at the output limit: no call of it can be trusted, none is run. */
export function startCalls(
  state: State,
  position: number,
  calls: readonly CallDigest[],
  cutOff: boolean,
): State {
  const pending = calls.map((call) => ({ ...call, status: { type: "pending" } as CallStatus }));
  const given = issue(state);
  const phase: Calling = {
    type: "calling-tools",
    issue: given.issue,
    position,
    calls: pending,
    unit: { from: 0, to: 0, carrier: -1, base: position + 1 },
  };
  const started = { ...given.state, phase };
  return cutOff ? finishCalls(refuseRest(started, phase, CUT_OFF_TEXT)) : nextUnit(started, phase);
}

/** Starts the next unit; or refuses what is left, when a person wants a word first or wants no more. */
function nextUnit(state: State, phase: Calling): State {
  const from = phase.unit.to;
  if (from >= phase.calls.length) return finishCalls(state);
  if (state.stop !== undefined) return finishCalls(refuseRest(state, phase, CANCELLED_TEXT));
  if (from > 0 && state.queues.steering.length > 0)
    return finishCalls(refuseRest(state, phase, SKIPPED_TEXT));

  const to = Math.min(phase.calls.length, from + unitSize(state, phase.calls.length));
  let next: State = state;
  let calls = phase.calls;
  for (let index = from; index < to; index++) {
    const call = calls[index] as Call;
    next = emit(next, {
      type: "ToolExecutionStart",
      toolCallId: call.id,
      toolName: call.name,
      position: phase.position,
    });
    const refusal = refusalOf(state, call);
    if (refusal === undefined) {
      const local = state.localSteps && pinnedOf(state).tools[call.name]?.quick === true;
      calls = withStatus(calls, index, {
        type: "running",
        generation: 0,
        lost: 0,
        local,
        startedAtMs: state.nowMs,
      });
    } else {
      next = answerCall(next, phase.position, call, index, refusal);
      calls = withStatus(calls, index, doneWith(call, refusal));
    }
  }
  const running = calls.some((call) => call.status.type === "running");
  const carrier = calls.findIndex(({ status }) => status.type === "running" && !status.local);
  const base = baseOf(next.outbox, phase.position + 1 + from);
  const given = issue(next);
  const unit: Calling = { ...phase, issue: given.issue, calls, unit: { from, to, carrier, base } };
  const started = { ...given.state, phase: unit };
  return running ? started : nextUnit(started, unit);
}

function unitSize(state: State, calls: number): number {
  const strategy = pinnedOf(state).toolStrategy;
  switch (strategy.type) {
    case "sequential":
      return 1;
    case "parallel":
      return calls;
    case "batched":
      return strategy.size;
  }
}

/** Why a call is answered without being run. */
function refusalOf(state: State, call: Call): string | undefined {
  if (!Object.hasOwn(pinnedOf(state).tools, call.name)) return `Tool ${call.name} not found`;
  return call.invalid === undefined ? undefined : `Invalid arguments: ${call.invalid}`;
}

function refuseRest(state: State, phase: Calling, text: string): State {
  let next: State = state;
  let calls = phase.calls;
  for (const [index, call] of phase.calls.entries()) {
    if (call.status.type !== "pending") continue;
    next = answerCall(next, phase.position, call, index, text);
    calls = withStatus(calls, index, doneWith(call, text));
  }
  return { ...next, phase: { ...phase, calls } };
}

/** The machine answers a call itself: the result waits in the outbox, at the call's own position. */
function answerCall(state: State, answer: number, call: Call, index: number, text: string): State {
  const placed = placeAt(state, answer + 1 + index, "machine", resultBody(call, text));
  return endEvents(placed, answer, call, index, true);
}

function resultBody(call: Call, text: string): OutboxBody {
  return { type: "result", toolCallId: call.id, toolName: call.name, text };
}

function doneWith(call: Call, text: string): CallStatus {
  return { type: "done", isError: true, tokens: estimateBody(resultBody(call, text)) };
}

function endEvents(
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
  });
  return messageEvents(ended, position);
}

export function toolFinished(state: State, phase: Calling, index: number, digest: ToolDigest): State {
  const call = runningCall(phase, index);
  if (call === undefined) return state;
  const settled =
    index === phase.unit.carrier ? settle(state, phase.issue, digest.branch) : moveTo(state, digest.branch);
  const ended = endEvents(settled, phase.position, call, index, digest.isError, digest.childLoopId);
  return callDone(ended, phase, index, { type: "done", isError: digest.isError, tokens: digest.tokens });
}

export function toolSetBack(state: State, phase: Calling, index: number, setback: Setback): State {
  const call = runningCall(phase, index);
  if (call === undefined) return state;
  if (state.stop !== undefined) return giveUp(state, phase, call, index, CANCELLED_TEXT);
  const status = call.status as Extract<CallStatus, { type: "running" }>;
  switch (setback.type) {
    case "lost":
      return status.lost + 1 >= MAX_LOST_IN_A_ROW
        ? giveUp(
            state,
            phase,
            call,
            index,
            `Failed: ${MAX_LOST_IN_A_ROW} workers died while this call ran; it is not tried again.`,
          )
        : again(state, phase, index, { ...status, generation: status.generation + 1, lost: status.lost + 1 });
    case "elsewhere":
      return again(state, phase, index, { ...status, generation: status.generation + 1, local: false });
    case "cancelled":
      return giveUp(state, phase, call, index, CANCELLED_TEXT);
    case "failed":
      return giveUp(state, phase, call, index, `Failed: ${setback.failure.message}`);
  }
}

function runningCall(phase: Calling, index: number): Call | undefined {
  const call = phase.calls[index];
  return call?.status.type === "running" ? call : undefined;
}

function again(state: State, phase: Calling, index: number, status: CallStatus): State {
  return { ...state, phase: { ...phase, calls: withStatus(phase.calls, index, status) } };
}

function giveUp(state: State, phase: Calling, call: Call, index: number, text: string): State {
  return callDone(answerCall(state, phase.position, call, index, text), phase, index, doneWith(call, text));
}

function callDone(state: State, phase: Calling, index: number, status: CallStatus): State {
  const calls = withStatus(phase.calls, index, status);
  const next = { ...phase, calls };
  const running = calls.some((call) => call.status.type === "running");
  return running ? { ...state, phase: next } : nextUnit({ ...state, phase: next }, next);
}

function withStatus(calls: readonly Call[], index: number, status: CallStatus): readonly Call[] {
  return calls.map((call, at) => (at === index ? { ...call, status } : call));
}

function moveTo(state: State, branch: string): State {
  return settle(state, { carries: { entries: 0, events: 0 } }, branch);
}

/** Every call has its result: they join the view in call order, and the turn ends. */
function finishCalls(state: State): State {
  const phase = state.phase as Calling;
  let view = state.view;
  phase.calls.forEach((call, index) => {
    const tokens = call.status.type === "done" ? call.status.tokens : 0;
    view = extendView(view, { position: phase.position + 1 + index, tokens, newTurn: false });
  });
  const length = phase.position + 1 + phase.calls.length;
  const over = { type: "turn-over" as const, position: phase.position, results: phase.calls.length };
  return { ...state, view, length, phase: over };
}
