import type { Outcome } from "../schema/record.ts";
import { append } from "./append.ts";
import { closeLoop } from "./close.ts";
import { askHooks, hasHook } from "./hooking.ts";
import { isNudgeDue } from "./nudging.ts";
import { emit } from "./outbox.ts";
import { loopOf, type PhaseOf } from "./phase.ts";
import type { BehindTurn, OpenLoop, State, TurnEnding, TurnSource } from "./state.ts";
import { NO_USAGE } from "./usage.ts";

// How a turn ends, and what comes behind it: [on-error], TurnEnd, [after-turn], then another turn or the end of the
// loop (X-03, LOOP-16).

/** The calls are over, or there were none (LOOP-20, LOOP-21). A filtered answer is not sent again. */
export function endTurn(state: State, { position, results, announces }: PhaseOf<"turn-over">): State {
  const { lastStop, turnUsage: usage } = loopOf(state);
  const asksOn = results > 0 && lastStop !== "guardRail";
  const source = asksOn ? ("calls" as const) : announces === true ? ("nudge" as const) : undefined;
  const behind: BehindTurn = { type: "go-on", ...(source === undefined ? {} : { source }) };
  return tellError(state, lastStop === "error", { position, results, usage, behind });
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
export function turnEnded(state: State, { position, results, usage, behind }: TurnEnding): State {
  const { turn } = loopOf(state);
  const said = emit(state, { type: "TurnEnd", turn, position, usage, results });
  const ended = { ...said, loop: { ...loopOf(said), turn: turn + 1 } };
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
  if (loop.ended !== undefined) return closeLoop(state, { type: "ended", ...loop.ended });
  const due = dueSource(state, source);
  if (due !== undefined) return { ...state, phase: { type: "turn-due", source: due } };
  const { lastText } = loop;
  const isText = lastText !== undefined && lastText.preview !== "" && loop.lastStop !== "guardRail";
  return isText && hooks === "ask" && hasHook(state, "on-text")
    ? askHooks(state, { point: "on-text", position: lastText.position })
    : closeLoop(state, { type: "answered", stopReason: loop.lastStop ?? "stop" });
}

/** What another turn would be for by now. */
export function dueSource(state: State, source: TurnSource | undefined): TurnSource | undefined {
  if (source === "opening" || source === "calls" || source === "on-text") return source;
  if (state.queues.steering.length > 0) return "steering";
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
