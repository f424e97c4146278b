import type { PersonAsked } from "../../schema/record.ts";
import { answerCall, doneWith, endEvents, isUntold } from "./call-results.ts";
import { asking, CANCELLED_TEXT, goOnWith, withCall } from "./calls.ts";
import { lostBy, lostWords, MAX_LOST_IN_A_ROW, settle } from "./issue.ts";
import type { Call, Calling, CallStatus } from "./state/calling.ts";
import type { QuestionRef, ToolDigest } from "./state/digest.ts";
import type { Setback } from "./state/run-event.ts";
import type { State } from "./state/state.ts";

// What became of calls that ran: each has its result, is given out again, or is given up.

export function toolFinished(state: State, phase: Calling, index: number, digest: ToolDigest): State {
  const call = runningCall(phase, index);
  if (call === undefined) return state;
  const settled =
    index === phase.unit.carrier ? settle(state, phase.issue, digest.branch) : moveTo(state, digest.branch);
  const { request, rest, asks } = digest;
  if (asks !== undefined) return toolAsks(settled, phase, index, asks);
  const ended = endEvents(settled, phase.position, call, index, digest.isError, digest.childLoopId);
  const told = rest === undefined ? ended : { ...ended, rest };
  const queued =
    request === undefined
      ? phase
      : { ...phase, requests: [...(phase.requests ?? []), { call: index, request }] };
  return callDone(told, queued, index, { type: "done", isError: digest.isError, tokens: digest.tokens });
}

/** The call waits for a person, as one that needs approval does; what it had taken along is written. */
function toolAsks(state: State, phase: Calling, index: number, question: QuestionRef): State {
  const calls = withStatus(phase.calls, index, { ...asking(state, "its tool asks a person"), question });
  const { unit } = phase;
  const parked = { ...phase, calls, unit: index === unit.carrier ? { ...unit, carrier: -1 } : unit };
  return state.stop === undefined
    ? goOnWith(state, parked)
    : questionOver(state, parked, index, CANCELLED_TEXT);
}

/** Nobody has answered what its tool asks: the call ends without. */
export function questionOver(
  state: State,
  phase: Calling,
  index: number,
  text: string,
  how: Pick<PersonAsked, "answer"> = {},
): State {
  const call = phase.calls[index] as Call;
  const { question = "" } = call.status as Extract<CallStatus, { type: "asking" }>;
  const over = withQuestion(call, { question, ...how });
  return giveUp(state, { ...phase, calls: withCall(phase.calls, index, over) }, over, index, text);
}

export function withQuestion(call: Call, asked: PersonAsked): Call {
  return { ...call, questions: [...(call.questions ?? []), asked] };
}

export function toolSetBack(state: State, phase: Calling, index: number, setback: Setback): State {
  const call = runningCall(phase, index);
  if (call === undefined) return state;
  const end = (text: string) => giveUp(state, phase, call, index, text);
  if (state.stop !== undefined) return end(CANCELLED_TEXT);
  const status = call.status as Extract<CallStatus, { type: "running" }>;
  const generation = status.generation + 1;
  switch (setback.type) {
    case "lost": {
      const lost = lostBy(status.lost, setback);
      return lost >= MAX_LOST_IN_A_ROW
        ? end(`Failed: ${lostWords(setback, "while this call ran")}; it is not tried again.`)
        : again(state, phase, index, { ...status, generation, lost });
    }
    case "elsewhere":
      return again(state, phase, index, { ...status, generation, local: false });
    case "cancelled":
      return end(CANCELLED_TEXT);
    case "failed":
      return end(`Failed: ${setback.failure.message}`);
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
  return withCall(calls, index, { ...(calls[index] as Call), status });
}
