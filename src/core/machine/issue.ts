import { carried, delivered } from "./outbox.ts";
import type { Setback } from "./state/run-event.ts";
import type { Issue, State } from "./state/state.ts";

/**
 * Workers that may die over one command, in a row, before the run stops trying (design 3.12): what kills three
 * workers will kill the fourth.
 */
export const MAX_LOST_IN_A_ROW = 3;

/** Numbers a new command. It takes along what waits in the outbox now. */
export function issue(state: State): { state: State; issue: Issue } {
  return {
    state: { ...state, commands: state.commands + 1 },
    issue: {
      number: state.commands,
      generation: 0,
      lost: 0,
      carries: carried(state.outbox),
    },
  };
}

/** Workers that were lost over a command, in a row. One that was asked to end and gave it back is none of them. */
export function lostBy(before: number, setback: Setback): number {
  return setback.type === "lost" && setback.inOrder === true ? before : before + 1;
}

/** Why a command is not given out again. Who did not report in time may only stand still: nobody says that it died. */
export function lostWords(setback: Setback, what: string): string {
  const isLate = setback.type === "lost" && setback.late === true;
  return isLate
    ? `${MAX_LOST_IN_A_ROW} times in a row the worker was lost ${what}: at last it did not report in time (it stands still, is overloaded, or its host is gone)`
    : `${MAX_LOST_IN_A_ROW} workers died ${what}`;
}

/** The same command once more, after its worker was lost. */
export function reissue(issue: Issue, setback: Setback): Issue {
  return { ...issue, generation: issue.generation + 1, lost: lostBy(issue.lost, setback) };
}

/** What the command had taken along is written, on the branch that its answer names. */
export function settle(state: State, done: Pick<Issue, "carries">, branch: string): State {
  const { fork: _, ...rest } = state;
  return {
    ...rest,
    branch,
    view: state.view.branch === branch ? state.view : { ...state.view, branch },
    outbox: delivered(state.outbox, done.carries),
  };
}
