import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { closeLoop } from "./close-loop.ts";
import { emit } from "./outbox.ts";
import { requeuePrompts } from "./queues.ts";
import type { LoopDigest } from "./state/digest.ts";
import type { Prompt } from "./state/inbound-message.ts";
import type { State } from "./state/state.ts";

/** Ends a loop that a hook has rejected before it began: only one AgentEnd is recorded (CB-05, GAP-15). */
export function rejectLoop(
  state: State,
  prompts: readonly Prompt[],
  { by, reason }: { readonly by: string; readonly reason: string },
): State {
  const queues = requeuePrompts(state.queues, prompts);
  return closeLoop({ ...state, queues }, { type: "rejected", reason, by });
}

/** Ends a loop whose prompts a filter has rejected, before its first turn (FILT-03). */
export function rejectOpening(
  state: State,
  prompts: readonly Prompt[],
  reason: string,
  { entries, from }: Pick<LoopDigest, "entries" | "from">,
): State {
  const refused = entries.map(({ messageId }) => messageId);
  const queues = requeuePrompts(state.queues, prompts, refused);
  return rejectInput({ ...state, queues }, reason, refused.length > 0 ? from : undefined);
}

/** @param position - Where the rejected message is stored. */
export function rejectInput(state: State, reason: string, position: number | undefined): State {
  const where = omitUndefined({ position });
  return closeLoop(emit(state, { type: "InputRejected", reason, ...where }), { type: "rejected", reason });
}
