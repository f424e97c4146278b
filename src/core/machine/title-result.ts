import { addCosts, addUsage } from "../budget/usage.ts";
import { closeLoop } from "./close-loop.ts";
import { completeDispatch, countLostWorkers, MAX_LOST_IN_A_ROW, redispatch } from "./dispatch.ts";
import { type PhaseOf, requireLoop } from "./phase.ts";
import type { TitleDigest } from "./state/digest.ts";
import type { StepFailure } from "./state/run-event.ts";
import type { State } from "./state/state.ts";

/** Counts what the title has cost, and closes the loop. A title that the user has given meanwhile stays. */
export function finishTitling(state: State, phase: PhaseOf<"titling">, digest: TitleDigest): State {
  const { usage, costUsd, title, branch } = digest;
  const settled = completeDispatch(state, phase.dispatch, branch);
  const loop = requireLoop(settled);
  const counted = {
    ...settled,
    loop: { ...loop, usage: addUsage(loop.usage, usage), costUsd: addCosts(loop.costUsd, costUsd) },
  };
  const isTitled = title !== undefined && state.showsTitle === true && state.title?.by !== "user";
  return closeLoop(isTitled ? { ...counted, title: { text: title, by: "model" } } : counted, phase.outcome);
}

/** Dispatches the step again after a lost worker, which may have stored a title; otherwise the first one stays. */
export function handleTitleFailure(state: State, phase: PhaseOf<"titling">, failure: StepFailure): State {
  const isLost = failure.type === "lost" || failure.type === "not-local";
  if (
    isLost &&
    state.stop === undefined &&
    countLostWorkers(phase.dispatch.lostWorkers, failure) < MAX_LOST_IN_A_ROW
  )
    return { ...state, phase: { ...phase, dispatch: redispatch(phase.dispatch, failure) } };
  return closeLoop(state, phase.outcome);
}
