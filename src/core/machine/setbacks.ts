import { flushed } from "./approving.ts";
import { closeLoop, loopClosed } from "./close.ts";
import { lostBy, lostWords, MAX_LOST_IN_A_ROW, reissue } from "./issue.ts";
import { inPhase, LOOP_OVER, type PhaseOf } from "./phase.ts";
import { giveBack } from "./queues.ts";
import type { Failure } from "./state/digest.ts";
import type { Setback } from "./state/run-event.ts";
import type { State } from "./state/state.ts";
import { overflowed } from "./turn.ts";
import { abort, endWithoutAnswer } from "./turn-end.ts";
import { waitForVendor } from "./vendor-wait.ts";

// Commands that were not carried out: each is given out again, or its loop or run says that it failed.

type Steps = PhaseOf<"opening"> | PhaseOf<"closing"> | PhaseOf<"recording">;

/** A step that only writes is given out again until it is done, or until it has failed for good. */
export function setBack(
  state: State,
  phase: Steps,
  setback: Setback,
  giveUp: (state: State, failure: Failure) => State,
): State {
  if (setback.type === "failed") return giveUp(state, setback.failure);
  return { ...state, phase: { ...phase, issue: reissue(phase.issue, setback) } };
}

/** While people are waited for, what happened is written down; if that cannot be, it goes with the next command. */
export function flushSetBack(state: State, phase: PhaseOf<"calling-tools">, setback: Setback): State {
  const { flush } = phase;
  if (setback.type === "failed" || flush === undefined || flush === "tried") {
    return flushed(state, phase, undefined);
  }
  return { ...state, phase: { ...phase, flush: reissue(flush, setback) } };
}

/** The prompt is refused with the run; what was steered before it goes back, and so into the inbox. */
export function couldNotOpen(state: State, { fault, message }: Failure): State {
  const outcome = { type: "failed" as const, fault, message };
  const { prompts } = inPhase(state, "opening", "open-set-back");
  const queues = giveBack(state.queues, prompts);
  return { ...state, queues, mode: "run", last: { outcome }, phase: LOOP_OVER };
}

/** The loop is over, but its record is not: nobody may take it for answered. */
export function couldNotClose(state: State, { fault, message }: Failure): State {
  const phase = inPhase(state, "closing", "close-set-back");
  const outcome = { type: "failed" as const, fault, message };
  return loopClosed(state, { ...phase, outcome }, { branch: state.branch });
}

/** What could not be written is missing: a loop does not go on over a hole, and a run says that it failed. */
export function couldNotRecord(state: State, { fault, message }: Failure): State {
  const outcome = { type: "failed" as const, fault, message };
  if (state.loop !== undefined) return closeLoop(state, outcome);
  return { ...state, mode: "run", last: { ...state.last, outcome }, phase: LOOP_OVER };
}

/** Behind a stop, whatever happened to the call counts as its end (PHI-13c). */
export function modelSetBack(state: State, phase: PhaseOf<"calling-model">, setback: Setback): State {
  if (state.stop !== undefined) return abort(state, state.stop.reason);
  switch (setback.type) {
    case "cancelled":
      return abort(state, "cancelled");
    case "failed": {
      const { fault, message } = setback.failure;
      if (setback.wait !== undefined) return waitForVendor(state, phase, setback.wait, setback.failure);
      if (fault === "overflow") return overflowed(state, phase, message);
      return endWithoutAnswer(state, "error", message, { type: "failed", fault, message });
    }
    case "elsewhere":
    case "lost":
      return askAgain(state, phase, setback);
  }
}

/** What kills three workers in a row will kill the fourth. */
function askAgain(
  state: State,
  phase: PhaseOf<"calling-model">,
  setback: Extract<Setback, { type: "lost" | "elsewhere" }>,
): State {
  if (lostBy(phase.issue.lost, setback) >= MAX_LOST_IN_A_ROW) {
    const message = `${lostWords(setback, "while the model was asked")}; it is not asked again.`;
    return endWithoutAnswer(state, "error", message, { type: "failed", fault: "worker-lost", message });
  }
  const asked = setback.type === "lost" ? setback.attempts : 0;
  const attemptsBefore = Math.max(phase.attemptsBefore, asked);
  return { ...state, phase: { ...phase, issue: reissue(phase.issue, setback), attemptsBefore } };
}
