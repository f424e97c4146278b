import type { StopReason } from "../../schema/message.ts";
import type { Outcome } from "../../schema/record.ts";
import { NO_USAGE } from "../budget/usage.ts";
import { append } from "./append.ts";
import { closeLoop } from "./close.ts";
import { askHooks, hasHook } from "./hooking.ts";
import { isNudgeDue } from "./nudging.ts";
import { emit } from "./outbox.ts";
import { loopOf, type PhaseOf } from "./phase.ts";
import { applyReverts } from "./reverting.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { State, TurnSource } from "./state/state.ts";
import type { BehindTurn, TurnEnding } from "./state/turn-ending.ts";
import { isUnfit, schemaMismatch } from "./structured.ts";

// How a turn ends, and what comes behind it: [on-error], TurnEnd, [after-turn], then another turn or the end of the
// loop (X-03, LOOP-16).

/** The calls are over, or there were none (LOOP-20, LOOP-21). */
export function endTurn(state: State, over: PhaseOf<"turn-over">): State {
  const { lastStop, turnUsage: usage } = loopOf(state);
  const { position, results, reverts } = over;
  const source = sourceBehind(over, lastStop);
  const behind: BehindTurn = { type: "go-on", ...(source === undefined ? {} : { source }) };
  const ending = { position, results, usage, behind, ...(reverts === undefined ? {} : { reverts }) };
  return tellError(state, lastStop === "error", ending);
}

/** What the turn itself calls for. A filtered answer is not sent again: asked on, the vendor would say the same. */
function sourceBehind(
  { results, announces, output }: PhaseOf<"turn-over">,
  lastStop: StopReason | undefined,
): TurnSource | undefined {
  if (output === "accepted") return undefined;
  if (output === "mismatch") return results > 0 ? "calls" : "repair";
  if (results > 0 && lastStop !== "guardRail") return "calls";
  return announces === true ? "nudge" : undefined;
}

/** There is no answer: the failed turn stays in the record and ends the loop (LOOP-16, LOOP-24). */
export function endWithoutAnswer(
  state: State,
  stopReason: "error" | "aborted",
  errorMessage: string,
  outcome: Outcome,
): State {
  const position = state.length;
  const noted = append(state, "machine", { type: "no-answer", stopReason, errorMessage }, true);
  const behind: BehindTurn = { type: "close", outcome };
  return tellError(noted, stopReason === "error", { position, results: 0, usage: NO_USAGE, behind });
}

/** Behind a stop, or on somebody's cancel: there is no answer. */
export function abort(state: State, reason: string): State {
  return endWithoutAnswer(state, "aborted", reason, { type: "stopped", reason });
}

/** A turn that somebody stops has not failed (PHI-13c). */
function tellError(state: State, failed: boolean, ending: TurnEnding): State {
  return failed && state.stop === undefined && hasHook(state, "on-error")
    ? askHooks(state, { point: "on-error", ending })
    : turnEnded(state, ending);
}

/** The turn's last word. */
export function turnEnded(state: State, ending: TurnEnding): State {
  const { position, results, usage, behind, reverts = [] } = ending;
  const { turn } = loopOf(state);
  const said = emit(state, { type: "TurnEnd", turn, position, usage, results });
  const over = { ...said, loop: { ...loopOf(said), turn: turn + 1 } };
  const ended = applyReverts(over, position, reverts);
  return hasHook(ended, "after-turn")
    ? askHooks(ended, { point: "after-turn", turn, usage, behind })
    : behindTurn(ended, behind);
}

export function behindTurn(state: State, behind: BehindTurn): State {
  return behind.type === "close" ? closeLoop(state, behind.outcome) : goOn(state, behind.source);
}

/**
 * Another turn, for the results of calls, for words that wait, or for a nudge; else the end of the loop.
 *
 * @param source - What the turn before calls for: results that the model has asked for, or a nudge, which a person's
 *   word replaces. Words are looked for anew, whatever it says.
 * @param hooks - Whether hooks may still want another turn behind this answer.
 */
export function goOn(state: State, source: TurnSource | undefined, hooks: "ask" | "asked" = "ask"): State {
  const loop = loopOf(state);
  if (state.stop !== undefined) return closeLoop(state, { type: "stopped", reason: state.stop.reason });
  if (loop.lastStop === "error") return closeLoop(state, failedAnswer(loop));
  if (loop.lastStop === "aborted")
    return closeLoop(state, { type: "stopped", reason: "the answer was aborted" });
  if (isUnfit(state)) return closeLoop(state, schemaMismatch(loop));
  if (loop.ended !== undefined) return closeLoop(state, { type: "ended", ...loop.ended });
  const due = dueSource(state, source);
  if (due !== undefined) return { ...state, phase: { type: "turn-due", source: due } };
  const { lastText } = loop;
  const hasText = lastText !== undefined && (lastText.preview !== "" || lastText.withheld === true);
  const isText = hasText && lastText.isOutput !== true;
  // A call of the final tool is an answer.
  const stopReason = loop.lastStop === undefined || loop.lastStop === "toolUse" ? "stop" : loop.lastStop;
  return isText && loop.lastStop !== "guardRail" && hooks === "ask" && hasHook(state, "on-text")
    ? askHooks(state, { point: "on-text", position: lastText.position })
    : closeLoop(state, { type: "answered", stopReason });
}

/** What another turn would be for by now. */
export function dueSource(state: State, source: TurnSource | undefined): TurnSource | undefined {
  if (source === "opening" || source === "calls" || source === "on-text") return source;
  if (state.queues.steering.length > 0) return "steering";
  if (source === "repair") return source;
  if (state.queues.followUps.length > 0) return "follow-up";
  return source === "nudge" && isNudgeDue(state) ? "nudge" : undefined;
}

function failedAnswer({ lastText }: OpenLoop): Outcome {
  return {
    type: "failed",
    fault: "api",
    message: lastText?.preview || "the vendor's answer says that it failed",
  };
}
