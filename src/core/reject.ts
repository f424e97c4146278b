import { closeLoop } from "./close.ts";
import { emit } from "./outbox.ts";
import { giveBack } from "./queues.ts";
import type { Prompt, State } from "./state.ts";

/** Ends a loop whose prompts a filter has refused, before its first turn (FILT-03). */
export function inputRejected(state: State, prompts: readonly Prompt[], reason: string): State {
  const queues = giveBack(state.queues, prompts);
  return closeLoop(emit({ ...state, queues }, { type: "InputRejected", reason }), {
    type: "rejected",
    reason,
  });
}
