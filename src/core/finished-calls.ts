import { answerCall, doneWith, endEvents, isUntold } from "./call-results.ts";
import type { Call, Calling, CallStatus } from "./calling.ts";
import { CANCELLED_TEXT, goOnWith } from "./calls.ts";
import type { ToolDigest } from "./digest.ts";
import { lostBy, MAX_LOST_IN_A_ROW, settle } from "./issue.ts";
import type { Setback } from "./run-event.ts";
import type { State } from "./state.ts";

// What became of calls that ran: each has its result, is given out again, or is given up.

export function toolFinished(state: State, phase: Calling, index: number, digest: ToolDigest): State {
  const call = runningCall(phase, index);
  if (call === undefined) return state;
  const settled =
    index === phase.unit.carrier ? settle(state, phase.issue, digest.branch) : moveTo(state, digest.branch);
  const ended = endEvents(settled, phase.position, call, index, digest.isError, digest.childLoopId);
  const { request, rest } = digest;
  const told = rest === undefined ? ended : { ...ended, rest };
  const queued =
    request === undefined
      ? phase
      : { ...phase, requests: [...(phase.requests ?? []), { call: index, request }] };
  return callDone(told, queued, index, { type: "done", isError: digest.isError, tokens: digest.tokens });
}

export function toolSetBack(state: State, phase: Calling, index: number, setback: Setback): State {
  const call = runningCall(phase, index);
  if (call === undefined) return state;
  if (state.stop !== undefined) return giveUp(state, phase, call, index, CANCELLED_TEXT);
  const status = call.status as Extract<CallStatus, { type: "running" }>;
  switch (setback.type) {
    case "lost":
      return lostBy(status.lost, setback) >= MAX_LOST_IN_A_ROW
        ? giveUp(
            state,
            phase,
            call,
            index,
            `Failed: ${MAX_LOST_IN_A_ROW} workers died while this call ran; it is not tried again.`,
          )
        : again(state, phase, index, {
            ...status,
            generation: status.generation + 1,
            lost: lostBy(status.lost, setback),
          });
    case "elsewhere":
      return again(state, phase, index, { ...status, generation: status.generation + 1, local: false });
    case "cancelled":
      return giveUp(state, phase, call, index, CANCELLED_TEXT);
    case "failed":
      return giveUp(state, phase, call, index, `Failed: ${setback.failure.message}`);
  }
}

export function runningCall(phase: Calling, index: number): Call | undefined {
  const call = phase.calls[index];
  return call?.status.type === "running" ? call : undefined;
}

function again(state: State, phase: Calling, index: number, status: CallStatus): State {
  return { ...state, phase: { ...phase, calls: withStatus(phase.calls, index, status) } };
}

function giveUp(state: State, phase: Calling, call: Call, index: number, text: string): State {
  return callDone(answerCall(state, phase.position, call, index, text), phase, index, doneWith(call, text));
}

export function callDone(
  state: State,
  phase: Calling,
  index: number,
  done: Extract<CallStatus, { type: "done" }>,
): State {
  const status = isUntold(state, phase.calls[index] as Call) ? { ...done, untold: true as const } : done;
  return goOnWith(state, { ...phase, calls: withStatus(phase.calls, index, status) });
}

function moveTo(state: State, branch: string): State {
  return settle(state, { carries: { entries: 0, events: 0 } }, branch);
}

function withStatus(calls: readonly Call[], index: number, status: CallStatus): readonly Call[] {
  return calls.map((call, at) => (at === index ? { ...call, status } : call));
}
