import { listPendingApprovals } from "./approvals.ts";
import type { State } from "./state/state.ts";

// Time that a run only spends waiting for the user does not count for the agent, unless the definition counts it.

/** Computes the milliseconds from this state to the next event that only the user's answer could have ended. */
export function computeWaitedMs(state: State, atMs: number): number {
  const counts = state.pinned?.approvals?.countsAsDuration === true;
  return counts || !waitsOnlyForUser(state) ? 0 : Math.max(0, atMs - state.nowMs);
}

/** Reports whether a call waits for the user and no other call is running. */
function waitsOnlyForUser(state: State): boolean {
  const { phase } = state;
  if (phase.type !== "calling-tools" || listPendingApprovals(state).length === 0) return false;
  return phase.calls.every(({ status }) => status.type !== "running");
}

/** Adds the time to the open loop. */
export function addWaitedTime(state: State, waitedMs: number): State {
  const { loop } = state;
  if (loop === undefined || waitedMs === 0) return state;
  return { ...state, loop: { ...loop, waitedMs: (loop.waitedMs ?? 0) + waitedMs } };
}
