import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { StopReason } from "../../schema/message.ts";
import type { Outcome } from "../../schema/record.ts";
import { NO_USAGE } from "../budget/usage.ts";
import { appendMessage } from "./append-message.ts";
import { applyReverts } from "./apply-reverts.ts";
import { closeLoop } from "./close-loop.ts";
import { isNudgeDue } from "./nudges.ts";
import { emit } from "./outbox.ts";
import { type PhaseOf, requireLoop } from "./phase.ts";
import { askHooks, hasHook } from "./run-hooks.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";
import type { AfterTurn, TurnEnding, TurnSource } from "./state/turn-ending.ts";
import { buildMismatchOutcome, hasRepeatedMismatch } from "./structured-output.ts";

// How a turn ends and what follows it: [on-error], TurnEnd, [after-turn], then another turn or the end of the
// loop (X-03, LOOP-16).

/** Ends a turn whose calls have ended, or that had none (LOOP-20, LOOP-21). */
export function endTurn(state: State, phase: PhaseOf<"turn-ended">): State {
  const { lastStop, turnUsage: usage } = requireLoop(state);
  const { position, results, reverts } = phase;
  const source = getNextSource(phase, lastStop);
  const after: AfterTurn = { type: "continue", ...omitUndefined({ source }) };
  const ending = { position, results, usage, after, ...omitUndefined({ reverts }) };
  return askErrorHooks(state, lastStop === "error", ending);
}

/** Returns what the turn itself requires. A filtered answer is not sent again: the vendor would filter it again. */
function getNextSource(
  { results, announcesCall, outputVerdict }: PhaseOf<"turn-ended">,
  lastStop: StopReason | undefined,
): TurnSource | undefined {
  if (outputVerdict === "accepted") return undefined;
  if (outputVerdict === "mismatch") return results > 0 ? "calls" : "repair";
  if (results > 0 && lastStop !== "guardRail") return "calls";
  return announcesCall === true ? "nudge" : undefined;
}

/** Ends a turn without an answer: the failed turn stays in the record and ends the loop (LOOP-16, LOOP-24). */
export function endWithoutAnswer(
  state: State,
  stopReason: "error" | "aborted",
  errorMessage: string,
  outcome: Outcome,
): State {
  const position = state.length;
  const noted = appendMessage(state, "machine", { type: "no-answer", stopReason, errorMessage }, true);
  const after: AfterTurn = { type: "close", outcome };
  return askErrorHooks(noted, stopReason === "error", {
    position,
    results: 0,
    usage: NO_USAGE,
    after,
  });
}

/** Ends a turn after a stop or a cancellation: there is no answer. */
export function abortTurn(state: State, reason: string): State {
  return endWithoutAnswer(state, "aborted", reason, { type: "stopped", reason });
}

/** Notifies error hooks. A turn that is stopped has not failed (PHI-13c). */
function askErrorHooks(state: State, failed: boolean, ending: TurnEnding): State {
  return failed && state.stop === undefined && hasHook(state, "on-error")
    ? askHooks(state, { point: "on-error", ending })
    : finishTurn(state, ending);
}

/** Emits the turn's last event. */
export function finishTurn(state: State, ending: TurnEnding): State {
  const { position, results, usage, after, reverts = [] } = ending;
  const { turn } = requireLoop(state);
  const emitted = emit(state, { type: "TurnEnd", turn, position, usage, results });
  const over = { ...emitted, loop: { ...requireLoop(emitted), turn: turn + 1 } };
  const ended = applyReverts(over, position, reverts);
  return hasHook(ended, "after-turn")
    ? askHooks(ended, { point: "after-turn", turn, usage, after })
    : continueAfterTurn(ended, after);
}

export function continueAfterTurn(state: State, after: AfterTurn): State {
  return after.type === "close" ? closeLoop(state, after.outcome) : startNextTurn(state, after.source);
}

/**
 * Starts another turn, for the results of calls, for waiting messages or for a nudge; otherwise ends the loop.
 *
 * @param source - What the last turn requires: results that the model has requested, or a nudge, which a user message
 *   replaces. Queues are checked again in any case.
 * @param hooks - Whether hooks may still request another turn after this answer.
 */
export function startNextTurn(
  state: State,
  source: TurnSource | undefined,
  hooks: "ask" | "asked" = "ask",
): State {
  const loop = requireLoop(state);
  if (state.stop !== undefined) return closeLoop(state, { type: "stopped", reason: state.stop.reason });
  if (loop.lastStop === "error") return closeLoop(state, buildUnfinishedOutcome(loop));
  if (loop.lastStop === "aborted")
    return closeLoop(state, { type: "stopped", reason: "the answer was aborted" });
  if (hasRepeatedMismatch(state)) return closeLoop(state, buildMismatchOutcome(loop));
  if (loop.endedByHook !== undefined) return closeLoop(state, { type: "ended", ...loop.endedByHook });
  if (loop.endedByCall !== undefined) return closeLoop(state, loop.endedByCall);
  const due = resolveNextSource(state, source);
  if (due !== undefined) return { ...state, phase: { type: "turn-pending", source: due } };
  const { lastText } = loop;
  const hasText = lastText !== undefined && (lastText.preview !== "" || lastText.isWithheld === true);
  const isText = hasText && lastText.isOutput !== true;
  // A call of the final tool is an answer.
  const stopReason = loop.lastStop === undefined || loop.lastStop === "toolUse" ? "stop" : loop.lastStop;
  return isText && loop.lastStop !== "guardRail" && hooks === "ask" && hasHook(state, "on-text")
    ? askHooks(state, { point: "on-text", position: lastText.position })
    : closeLoop(state, { type: "answered", stopReason });
}

/** Returns what another turn would be for at this moment. */
export function resolveNextSource(state: State, source: TurnSource | undefined): TurnSource | undefined {
  if (source === "opening" || source === "calls" || source === "on-text") return source;
  if (state.queues.steering.length > 0) return "steering";
  if (source === "repair") return source;
  if (state.queues.followUps.length > 0) return "follow-up";
  return source === "nudge" && isNudgeDue(state) ? "nudge" : undefined;
}

function buildUnfinishedOutcome({ lastText }: OpenLoop): Outcome {
  return {
    type: "failed",
    fault: "api",
    message: lastText?.preview || "the vendor's answer says that it failed",
  };
}
