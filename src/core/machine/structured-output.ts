import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { StopReason } from "../../schema/message.ts";
import type { Outcome } from "../../schema/record.ts";
import { appendMessage } from "./append-message.ts";
import { requireLoop } from "./phase.ts";
import type { CallDigest, OutputVerdict } from "./state/digest.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";

// The structured output of a loop (SO-01), as the machine sees it: verdicts. The activity has checked the answer.
//
//   the answer                                    | what follows
//   ----------------------------------------------|--------------------------------------------------------------
//   fits                                          | the loop ends, unless a user message waits
//   does not fit, the first time                  | one repair round: the model reads what was found and expected
//   does not fit, after a repair round            | the loop fails with "schema-mismatch"
//   does not fit, and the vendor has filtered it  | the loop fails at once: a repeated request would be filtered too
//   calls the final tool beside other tools       | those run; the final call must be repeated with their results
//
// A waiting user message is read instead of a repair or a failure, and the answer to it is judged again.

/** The fault of a loop whose answer does not match. */
const SCHEMA_MISMATCH = "schema-mismatch";

export const ACCEPTED_TEXT = "Accepted.";
export const NOT_ACCEPTED = "Not accepted: ";
export const REPAIR_TEXT = "Your answer was not accepted: ";

/** Formats why a call of the final tool beside others gets no verdict: the model had not seen their results. */
export function formatNotAlone({ name }: Pick<CallDigest, "name">): string {
  return `Not judged: ${name} was called together with other tools. Read their results, then call ${name} alone.`;
}

export function formatVerdict(verdict: OutputVerdict): string {
  return verdict.ok ? ACCEPTED_TEXT : `${NOT_ACCEPTED}${verdict.problems}`;
}

/** Records the verdict on the newest answer. */
export function applyVerdict(state: State, verdict: OutputVerdict, stopReason: StopReason): State {
  const loop = requireLoop(state);
  if (verdict.ok) {
    const { mismatch: _, ...rest } = loop;
    const accepted = { isOutput: true as const, ...omitUndefined({ repairs: verdict.repairs }) };
    const lastText = loop.lastText === undefined ? undefined : { ...loop.lastText, ...accepted };
    return { ...state, loop: { ...rest, lastText } };
  }
  const again = loop.mismatch !== undefined || stopReason === "guardRail";
  const mismatch = { problems: verdict.problems, ...(again ? { isRepeated: true as const } : {}) };
  return { ...state, loop: { ...loop, mismatch } };
}

/** Returns what was repaired in the output that a loop ends with. */
export function getOutputRepairs({ lastText }: OpenLoop, outcome: Outcome): readonly string[] | undefined {
  return outcome.type === "answered" ? lastText?.repairs : undefined;
}

/** Reports whether the loop fails: a second answer did not match, and no user message has arrived since. */
export function hasRepeatedMismatch(state: State): boolean {
  return requireLoop(state).mismatch?.isRepeated === true && state.queues.steering.length === 0;
}

export function buildMismatchOutcome({ mismatch }: OpenLoop): Outcome {
  const problems = mismatch?.problems ?? "";
  return {
    type: "failed",
    fault: SCHEMA_MISMATCH,
    message: `The answer is not the required output: ${problems}`,
  };
}

/** Describes the problem of its answer to the model, in the first message of the repair round. */
export function appendRepairMessage(state: State): State {
  const problems = requireLoop(state).mismatch?.problems ?? "";
  const text = `${REPAIR_TEXT}${problems}\nAnswer again, with the complete output.`;
  return appendMessage(state, "machine", { type: "notice", text }, true);
}

/** Resets the mismatch, because the user has sent a message: the answer to it has a repair round of its own. */
export function resetMismatch(state: State): State {
  if (state.loop?.mismatch === undefined) return state;
  const { mismatch: _, ...loop } = state.loop;
  return { ...state, loop };
}
