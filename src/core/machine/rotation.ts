import { dispatch } from "./dispatch.ts";
import type { Resume, State } from "./state/state.ts";

/**
 * Prepares to continue as new, with an empty outbox: what an old run may have written already must not be written again
 * under the keys of a new run.
 */
export function prepareRotation(state: State, resume: Resume): State {
  if (state.outbox.entries.length === 0 && state.outbox.events.length === 0) {
    return { ...state, phase: { type: "rotating", resume } };
  }
  const given = dispatch(state);
  return {
    ...given.state,
    phase: { type: "recording", dispatch: given.dispatch, inbox: [], continueWith: resume },
  };
}
