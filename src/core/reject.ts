import { closeLoop } from "./close.ts";
import { emit } from "./outbox.ts";
import { giveBack } from "./queues.ts";
import type { Prompt, State } from "./state.ts";

/** Ends a loop that a hook has refused, before it began: one AgentEnd is all that is recorded (CB-05, GAP-15). */
export function loopRefused(
  state: State,
  prompts: readonly Prompt[],
  { by, reason }: { readonly by: string; readonly reason: string },
): State {
  const queues = giveBack(state.queues, prompts);
  return closeLoop({ ...state, queues }, { type: "rejected", reason, by });
}

/** Ends a loop whose prompts a filter has refused, before its first turn (FILT-03). */
export function inputRejected(state: State, prompts: readonly Prompt[], reason: string): State {
  const queues = giveBack(state.queues, prompts);
  return closeLoop(emit({ ...state, queues }, { type: "InputRejected", reason }), {
    type: "rejected",
    reason,
  });
}
