import type { ToolView } from "../view/view-request.ts";
import { buildViewAfterRequests } from "./apply-prunes.ts";
import { type PhaseOf, requireLoop } from "./phase.ts";
import type { Call } from "./state/call-status.ts";
import type { State } from "./state/state.ts";
import { getToolFacts } from "./tool-facts.ts";

/** Reports whether a call that receives the view must wait for the requests of earlier calls. */
export function waitsForEarlierCall(state: State, calls: readonly Call[], index: number): boolean {
  const isGiven = ({ name }: Call) => getToolFacts(state, name)?.view === true;
  const call = calls[index];
  if (call === undefined || !isGiven(call)) return false;
  return calls.slice(0, index).some((before) => before.status.type === "running" && isGiven(before));
}

export function buildToolView(state: State, phase: PhaseOf<"calling-tools">): ToolView {
  const { viewRequests = [], position } = phase;
  const reverted = viewRequests.some(({ request }) => request.type === "revert" && request.applied);
  return {
    view: buildViewAfterRequests(state.view, position, viewRequests),
    loopFrom: requireLoop(state).from,
    ...(reverted ? { isReverted: reverted } : {}),
  };
}
