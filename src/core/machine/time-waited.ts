import { listPendingApprovals } from "./approvals.ts";
import type { State } from "./state/state.ts";

// Time in which a run does nothing but wait for a person is not the agent's, unless the definition counts it.

/** Milliseconds from this state to the next event that only a person's answer could have ended. */
export function computeWaitedMs(state: State, atMs: number): number {
  const counts = state.pinned?.approvals?.countsAsDuration === true;
  return counts || !waitsOnlyForUser(state) ? 0 : Math.max(0, atMs - state.nowMs);
}

/** A call that is being asked about, and none at work beside it. */
function waitsOnlyForUser(state: State): boolean {
  const { phase } = state;
  if (phase.type !== "calling-tools" || listPendingApprovals(state).length === 0) return false;
  return phase.calls.every(({ status }) => status.type !== "running");
}

/** Adds it to the loop that is open. */
export function addWaitedTime(state: State, waitedMs: number): State {
  const { loop } = state;
  if (loop === undefined || waitedMs === 0) return state;
  return { ...state, loop: { ...loop, waitedMs: (loop.waitedMs ?? 0) + waitedMs } };
}
