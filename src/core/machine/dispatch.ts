import { drainOutbox, measureOutbox } from "./outbox.ts";
import type { StepFailure } from "./state/run-event.ts";
import type { Dispatch, State } from "./state/state.ts";

/**
 * Workers that may die over one command, in a row, before the run stops trying (design 3.12): what kills three
 * workers will kill the fourth.
 */
export const MAX_LOST_IN_A_ROW = 3;

/** Numbers a new command. It takes along what waits in the outbox now. */
export function dispatch(state: State): { state: State; issue: Dispatch } {
  return {
    state: { ...state, commands: state.commands + 1 },
    issue: {
      number: state.commands,
      generation: 0,
      lost: 0,
      carries: measureOutbox(state.outbox),
    },
  };
}

/** Workers that were lost over a command, in a row. One that was asked to end and gave it back is none of them. */
export function countLostWorkers(before: number, failure: StepFailure): number {
  return failure.type === "lost" && failure.inOrder === true ? before : before + 1;
}

/** Why a command is not given out again. Who did not report in time may only stand still: nobody says that it died. */
export function formatWorkerLoss(failure: StepFailure, step: string): string {
  const isLate = failure.type === "lost" && failure.late === true;
  return isLate
    ? `${MAX_LOST_IN_A_ROW} times in a row the worker was lost ${step}: at last it did not report in time (it stands still, is overloaded, or its host is gone)`
    : `${MAX_LOST_IN_A_ROW} workers died ${step}`;
}

/** The same command once more, after its worker was lost. */
export function redispatch(previous: Dispatch, failure: StepFailure): Dispatch {
  return { ...previous, generation: previous.generation + 1, lost: countLostWorkers(previous.lost, failure) };
}

/** What the command had taken along is written, on the branch that its answer names. */
export function completeDispatch(state: State, size: Pick<Dispatch, "carries">, branch: string): State {
  const { fork: _, ...rest } = state;
  return {
    ...rest,
    branch,
    view: state.view.branch === branch ? state.view : { ...state.view, branch },
    outbox: drainOutbox(state.outbox, size.carries),
  };
}
