import type { ViewAtHand } from "../view/view-request.ts";
import { loopOf, type PhaseOf } from "./phase.ts";
import { viewBehind } from "./pruning.ts";
import type { Call } from "./state/calling.ts";
import type { State } from "./state/state.ts";
import { toolFactsOf } from "./tool-facts.ts";

/** A call that is given the view waits until those before it have said what they want of it. */
export function isHeldBack(state: State, calls: readonly Call[], index: number): boolean {
  const isGiven = ({ name }: Call) => toolFactsOf(state, name)?.view === true;
  const call = calls[index];
  if (call === undefined || !isGiven(call)) return false;
  return calls.slice(0, index).some((before) => before.status.type === "running" && isGiven(before));
}

export function viewAtHand(state: State, phase: PhaseOf<"calling-tools">): ViewAtHand {
  const { requests = [], position } = phase;
  const reverted = requests.some(({ request }) => request.type === "revert" && request.applied);
  return {
    view: viewBehind(state.view, position, requests),
    loopFrom: loopOf(state).from,
    ...(reverted ? { reverted } : {}),
  };
}
