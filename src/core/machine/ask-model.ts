import { dispatch } from "./dispatch.ts";
import type { State } from "./state/state.ts";

/** Dispatches the model call of the turn. @param compacted - The view was made smaller because the vendor had rejected it. */
export function askModel(state: State, compacted = false): State {
  const given = dispatch(state);
  const phase = { type: "calling-model" as const, dispatch: given.dispatch, attemptsBefore: 0 };
  return { ...given.state, phase: { ...phase, ...(compacted ? { isCompacted: compacted } : {}) } };
}
