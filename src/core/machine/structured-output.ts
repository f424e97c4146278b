import type { StopReason } from "../../schema/message.ts";
import type { Outcome } from "../../schema/record.ts";
import { appendMessage } from "./append-message.ts";
import { requireLoop } from "./phase.ts";
import type { CallDigest, OutputVerdict } from "./state/digest.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";

// The structured output of a loop (SO-01), as the machine sees it: verdicts. The activity has looked at the answer.
//
//   the answer                                    | what follows
//   ----------------------------------------------|--------------------------------------------------------------
//   fits                                          | the loop ends, unless words of a person wait
//   does not fit, the first time                  | one repair round: the model is told what was found and expected
//   does not fit, behind a repair round           | the loop fails with "schema-mismatch"
//   does not fit, and the vendor has filtered it  | the loop fails at once: asked again it would filter again
//   calls the final tool beside other tools       | those run; the final call is given back, to be made with their results
//
// A person's word that waits is read instead of a repair or a failure, and what is answered to it is judged anew.

/** The fault of a loop whose answer does not fit. */
const SCHEMA_MISMATCH = "schema-mismatch";

export const ACCEPTED_TEXT = "Accepted.";
export const NOT_ACCEPTED = "Not accepted: ";
export const REPAIR_TEXT = "Your answer was not accepted: ";

/** Why a call of the final tool beside others gets no verdict: its author had not seen their results. */
export function formatNotAlone({ name }: Pick<CallDigest, "name">): string {
  return `Not taken: ${name} came together with other calls. Read their results, then call ${name} alone.`;
}

export function formatVerdict(verdict: OutputVerdict): string {
  return verdict.ok ? ACCEPTED_TEXT : `${NOT_ACCEPTED}${verdict.problems}`;
}

/** Keeps the verdict on the newest answer. */
export function applyVerdict(state: State, verdict: OutputVerdict, stopReason: StopReason): State {
  const loop = requireLoop(state);
  if (verdict.ok) {
    const { mismatch: _, ...rest } = loop;
    const lastText = loop.lastText === undefined ? undefined : { ...loop.lastText, isOutput: true as const };
    return { ...state, loop: { ...rest, lastText } };
  }
  const again = loop.mismatch !== undefined || stopReason === "guardRail";
  const mismatch = { problems: verdict.problems, ...(again ? { again: true as const } : {}) };
  return { ...state, loop: { ...loop, mismatch } };
}

/** Whether the loop fails: a second answer did not fit, and no person has said anything since. */
export function hasRepeatedMismatch(state: State): boolean {
  return requireLoop(state).mismatch?.again === true && state.queues.steering.length === 0;
}

export function buildMismatchOutcome({ mismatch }: OpenLoop): Outcome {
  const problems = mismatch?.problems ?? "";
  return {
    type: "failed",
    fault: SCHEMA_MISMATCH,
    message: `The answer is not the output that was asked for: ${problems}`,
  };
}

/** Tells the model what is wrong with its text, as the first message of the repair round. */
export function appendRepairMessage(state: State): State {
  const problems = requireLoop(state).mismatch?.problems ?? "";
  const text = `${REPAIR_TEXT}${problems}\nAnswer once more, with the whole output.`;
  return appendMessage(state, "machine", { type: "notice", text }, true);
}

/** A person has spoken: what is answered now has a repair round of its own. */
export function resetMismatch(state: State): State {
  if (state.loop?.mismatch === undefined) return state;
  const { mismatch: _, ...loop } = state.loop;
  return { ...state, loop };
}
