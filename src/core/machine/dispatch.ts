import { drainOutbox, measureOutbox } from "./outbox.ts";
import type { Dispatch } from "./state/dispatch.ts";
import type { StepFailure } from "./state/run-event.ts";
import type { State } from "./state/state.ts";

/**
 * The number of workers in a row that may die during one command before the run stops trying (design 3.12): a command
 * that kills three workers also kills the fourth.
 */
export const MAX_LOST_IN_A_ROW = 3;

/** Numbers a new command. The command carries what waits in the outbox at this moment. */
export function dispatch(state: State): { state: State; dispatch: Dispatch } {
  return {
    state: { ...state, nextCommand: state.nextCommand + 1 },
    dispatch: {
      number: state.nextCommand,
      generation: 0,
      lostWorkers: 0,
      carries: measureOutbox(state.outbox),
    },
  };
}

/** Counts the workers lost in a row during a command. A worker that was asked to stop and released it does not count. */
export function countLostWorkers(before: number, failure: StepFailure): number {
  return failure.type === "lost" && failure.isReleased === true ? before : before + 1;
}

/** Formats why a command is not dispatched again. A worker that did not report in time may be alive but blocked. */
export function formatWorkerLoss(failure: StepFailure, step: string): string {
  const isLate = failure.type === "lost" && failure.isTimeout === true;
  return isLate
    ? `${MAX_LOST_IN_A_ROW} times in a row the worker was lost ${step}: the last one did not report in time (it is blocked or overloaded, or its host is down)`
    : `${MAX_LOST_IN_A_ROW} workers died ${step}`;
}

/** Dispatches the same command again after its worker was lost. */
export function redispatch(previous: Dispatch, failure: StepFailure): Dispatch {
  return {
    ...previous,
    generation: previous.generation + 1,
    lostWorkers: countLostWorkers(previous.lostWorkers, failure),
  };
}

/** Completes a dispatch: what the command carried is written, on the branch that its answer names. */
export function completeDispatch(state: State, size: Pick<Dispatch, "carries">, branch: string): State {
  const { newBranch: _, ...rest } = state;
  return {
    ...rest,
    branch,
    view: state.view.branch === branch ? state.view : { ...state.view, branch },
    outbox: drainOutbox(state.outbox, size.carries),
  };
}
