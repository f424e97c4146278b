import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { QuestionRecord } from "../../schema/loop-event.ts";
import { buildAskingStatus, replaceCall } from "./begin-call.ts";
import { CANCELLED_TEXT, continueCalls } from "./call-batches.ts";
import { answerCall, awaitsAfterToolHooks, buildDoneStatus, emitEndEvents } from "./call-results.ts";
import { completeDispatch, countLostWorkers, formatWorkerLoss, MAX_LOST_IN_A_ROW } from "./dispatch.ts";
import type { Call, CallingTools, CallStatus, DoneStatus } from "./state/call-status.ts";
import type { QuestionRef, ToolDigest } from "./state/digest.ts";
import type { StepFailure } from "./state/run-event.ts";
import type { State } from "./state/state.ts";

// What happens to calls that ran: each has its result, is dispatched again, or is given up.

export function finishTool(state: State, phase: CallingTools, index: number, digest: ToolDigest): State {
  const call = getRunningCall(phase, index);
  if (call === undefined) return state;
  const settled =
    index === phase.batch.outboxCall
      ? completeDispatch(state, phase.dispatch, digest.branch)
      : switchBranch(state, digest.branch);
  const { viewRequest, nextRound, question, endsLoop } = digest;
  if (question !== undefined) return parkQuestion(settled, phase, index, question);
  const ended = emitEndEvents(settled, phase.position, call, index, digest.isError, digest.childLoopId);
  const withNextRound = nextRound === undefined ? ended : { ...ended, nextRound };
  const queued =
    viewRequest === undefined
      ? phase
      : { ...phase, viewRequests: [...(phase.viewRequests ?? []), { call: index, request: viewRequest }] };
  return completeCall(withNextRound, queued, index, {
    type: "done",
    isError: digest.isError,
    tokens: digest.tokens,
    ...omitUndefined({ endsLoop }),
  });
}

/** Parks the call until the user answers, like a call that needs approval; what it carried is written. */
function parkQuestion(state: State, phase: CallingTools, index: number, question: QuestionRef): State {
  const calls = setStatus(phase.calls, index, {
    ...buildAskingStatus(state, "its tool asks the user"),
    question,
  });
  const { batch } = phase;
  const parked = {
    ...phase,
    calls,
    batch: index === batch.outboxCall ? { ...batch, outboxCall: -1 } : batch,
  };
  return state.stop === undefined
    ? continueCalls(state, parked)
    : endQuestion(state, parked, index, CANCELLED_TEXT);
}

/** Ends a call whose tool's question nobody has answered. */
export function endQuestion(
  state: State,
  phase: CallingTools,
  index: number,
  text: string,
  resolution: Pick<QuestionRecord, "answer"> = {},
): State {
  const call = phase.calls[index] as Call;
  const { question = "" } = call.status as Extract<CallStatus, { type: "awaiting-user" }>;
  const over = addQuestion(call, { question, ...resolution });
  return giveUp(state, { ...phase, calls: replaceCall(phase.calls, index, over) }, over, index, text);
}

export function addQuestion(call: Call, asked: QuestionRecord): Call {
  return { ...call, questions: [...(call.questions ?? []), asked] };
}

export function handleToolFailure(
  state: State,
  phase: CallingTools,
  index: number,
  failure: StepFailure,
): State {
  const call = getRunningCall(phase, index);
  if (call === undefined) return state;
  const end = (text: string) => giveUp(state, phase, call, index, text);
  if (state.stop !== undefined) return end(CANCELLED_TEXT);
  const status = call.status as Extract<CallStatus, { type: "running" }>;
  const generation = status.generation + 1;
  switch (failure.type) {
    case "lost": {
      const lost = countLostWorkers(status.lostWorkers, failure);
      return lost >= MAX_LOST_IN_A_ROW
        ? end(`Failed: ${formatWorkerLoss(failure, "while this call ran")}; it is not retried.`)
        : redispatchCall(state, phase, index, { ...status, generation, lostWorkers: lost });
    }
    case "not-local":
      return redispatchCall(state, phase, index, { ...status, generation, isLocal: false });
    case "cancelled":
      return end(CANCELLED_TEXT);
    case "failed":
      return end(`Failed: ${failure.failure.message}`);
  }
}

export function getRunningCall(phase: CallingTools, index: number): Call | undefined {
  const call = phase.calls[index];
  return call?.status.type === "running" ? call : undefined;
}

function redispatchCall(state: State, phase: CallingTools, index: number, status: CallStatus): State {
  return { ...state, phase: { ...phase, calls: setStatus(phase.calls, index, status) } };
}

function giveUp(state: State, phase: CallingTools, call: Call, index: number, text: string): State {
  return completeCall(
    answerCall(state, phase.position, call, index, text),
    phase,
    index,
    buildDoneStatus(call, text),
  );
}

export function completeCall(state: State, phase: CallingTools, index: number, done: DoneStatus): State {
  const status = awaitsAfterToolHooks(state, phase.calls[index] as Call)
    ? { ...done, awaitsHooks: true as const }
    : done;
  return continueCalls(state, { ...phase, calls: setStatus(phase.calls, index, status) });
}

function switchBranch(state: State, branch: string): State {
  return completeDispatch(state, { carries: { entries: 0, events: 0 } }, branch);
}

function setStatus(calls: readonly Call[], index: number, status: CallStatus): readonly Call[] {
  return replaceCall(calls, index, { ...(calls[index] as Call), status });
}
