import { finishFlush } from "./approval-answers.ts";
import { closeLoop, finishClosing } from "./close-loop.ts";
import { countLostWorkers, formatWorkerLoss, MAX_LOST_IN_A_ROW, redispatch } from "./dispatch.ts";
import { LOOP_ENDED, type PhaseOf, requirePhase } from "./phase.ts";
import { requeuePrompts } from "./queues.ts";
import type { Failure } from "./state/digest.ts";
import type { StepFailure } from "./state/run-event.ts";
import type { State } from "./state/state.ts";
import { handleOverflow } from "./turn-compaction.ts";
import { abortTurn, endWithoutAnswer } from "./turn-end.ts";
import { waitForVendor } from "./vendor-wait.ts";

// Commands that failed: each is dispatched again, or its loop or run reports the failure.

type Steps = PhaseOf<"opening"> | PhaseOf<"closing"> | PhaseOf<"recording">;

/** Dispatches a step that only writes again until it succeeds or fails permanently. */
export function handleStepFailure(
  state: State,
  phase: Steps,
  stepFailure: StepFailure,
  giveUp: (state: State, failure: Failure) => State,
): State {
  if (stepFailure.type === "failed") return giveUp(state, stepFailure.failure);
  return { ...state, phase: { ...phase, dispatch: redispatch(phase.dispatch, stepFailure) } };
}

/** Handles a failed flush while the user is asked: what could not be written goes with the next command. */
export function handleFlushFailure(
  state: State,
  phase: PhaseOf<"calling-tools">,
  failure: StepFailure,
): State {
  const { flush } = phase;
  if (failure.type === "failed" || flush === undefined || flush === "tried") {
    return finishFlush(state, phase, undefined);
  }
  return { ...state, phase: { ...phase, flush: redispatch(flush, failure) } };
}

/** Rejects the prompt together with the run. Steering that was taken before it goes back and so into the inbox. */
export function failOpening(state: State, { fault, message }: Failure): State {
  const outcome = { type: "failed" as const, fault, message };
  const { prompts } = requirePhase(state, "opening", "open-failed");
  const queues = requeuePrompts(state.queues, prompts);
  return { ...state, queues, mode: "run", last: { outcome }, phase: LOOP_ENDED };
}

/** Fails the run: the loop has ended but its record has not, so it must not count as answered. */
export function failClosing(state: State, { fault, message }: Failure): State {
  const phase = requirePhase(state, "closing", "close-failed");
  const outcome = { type: "failed" as const, fault, message };
  return finishClosing(state, { ...phase, outcome }, { branch: state.branch });
}

/** Fails the loop or the run when events could not be written: neither may continue over a gap in the record. */
export function failRecording(state: State, { fault, message }: Failure): State {
  const outcome = { type: "failed" as const, fault, message };
  if (state.loop !== undefined) return closeLoop(state, outcome);
  return { ...state, mode: "run", last: { ...state.last, outcome }, phase: LOOP_ENDED };
}

/** Handles a failed model call. After a stop, any result of the call counts as its end (PHI-13c). */
export function handleModelFailure(
  state: State,
  phase: PhaseOf<"calling-model">,
  failure: StepFailure,
): State {
  if (state.stop !== undefined) return abortTurn(state, state.stop.reason);
  switch (failure.type) {
    case "cancelled":
      return abortTurn(state, "cancelled");
    case "failed": {
      const { fault, message } = failure.failure;
      if (failure.wait !== undefined) return waitForVendor(state, phase, failure.wait, failure.failure);
      if (fault === "overflow") return handleOverflow(state, phase, message);
      return endWithoutAnswer(state, "error", message, { type: "failed", fault, message });
    }
    case "not-local":
    case "lost":
      return redispatchModel(state, phase, failure);
  }
}

/** Dispatches the call again, unless it has killed three workers in a row: it would kill the fourth. */
function redispatchModel(
  state: State,
  phase: PhaseOf<"calling-model">,
  failure: Extract<StepFailure, { type: "lost" | "not-local" }>,
): State {
  if (countLostWorkers(phase.dispatch.lostWorkers, failure) >= MAX_LOST_IN_A_ROW) {
    const message = `${formatWorkerLoss(failure, "during the model call")}; the call is not retried.`;
    return endWithoutAnswer(state, "error", message, { type: "failed", fault: "worker-lost", message });
  }
  const asked = failure.type === "lost" ? failure.attempts : 0;
  const attemptsBefore = Math.max(phase.attemptsBefore, asked);
  return { ...state, phase: { ...phase, dispatch: redispatch(phase.dispatch, failure), attemptsBefore } };
}
