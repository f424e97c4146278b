import type { StopReason } from "../schema/message.ts";
import type { TurnTrigger } from "../schema/record.ts";
import { append, messageEvents, promptEvents } from "./append.ts";
import { answerFinal } from "./call-results.ts";
import { startCalls } from "./calls.ts";
import { closeLoop } from "./close.ts";
import {
  compactionDue,
  compactionSetBack,
  overflowMessage,
  startCompaction,
  viewCompacted,
} from "./compacting.ts";
import { reportedBy } from "./compaction/trigger.ts";
import { beginCompactionLoop, endCompactionLoop, isCompactionLoop } from "./compaction-loop.ts";
import type { CompactDigest, Failure, FilterDigest, ModelDigest, OutputVerdict } from "./digest.ts";
import { inputFiltered, startFiltering, unfilteredFor } from "./filtering.ts";
import { askHooks, hasHook } from "./hooking.ts";
import { issue, settle } from "./issue.ts";
import type { OpenLoop } from "./loop-state.ts";
import { startMove } from "./moving.ts";
import { countedAnew, isNudgeDue, nudge } from "./nudging.ts";
import { emit } from "./outbox.ts";
import { loopOf, type PhaseOf, pinnedOf } from "./phase.ts";
import { poll } from "./queues.ts";
import { forgetRepeats } from "./repeated-mistakes.ts";
import { fadeTags } from "./reverting.ts";
import { beforeRotation } from "./rotation.ts";
import type { Setback } from "./run-event.ts";
import { exhausted } from "./shares.ts";
import type { CompactionReason, State, TurnSource } from "./state.ts";
import { forgetMismatch, outputJudged, repair, verdictText } from "./structured.ts";
import { abort, dueSource, endWithoutAnswer, goOn } from "./turn-end.ts";
import { addCosts, addUsage, NO_USAGE } from "./usage.ts";
import { extendView, viewTokens } from "./view.ts";

/**
 * Begins a turn, or ends the loop instead: stop, another definition, limits, filters, [before-turn], TurnStart, the messages that wait.
 *
 * Queues are read only once the turn is sure to begin: a message that meets a limit stays where it is.
 */
export function beginTurn(state: State, source: TurnSource): State {
  if (isCompactionLoop(state)) return beginCompactionLoop(state, compact);
  if (state.stop !== undefined) return closeLoop(state, { type: "stopped", reason: state.stop.reason });
  if (state.update !== undefined) return startMove(state, state.update.hash, { type: "turn", source });
  const loop = loopOf(state);
  const isAsked = loop.goesOn === true || state.length > loop.from;
  if (source === "opening" && !isAsked) return endUnasked(state);
  // A person who says something to an agent that is stuck wants it to go on with that.
  if (loop.stuck !== undefined && state.queues.steering.length > 0)
    return beginTurn(forgetRepeats(state), source);
  const reason = exhausted(state) ?? loop.stuck;
  if (reason !== undefined) return endAtLimit(state, reason);
  if (state.rotate) return beforeRotation(state, { type: "turn", source });
  const unfiltered = unfilteredFor(state, source);
  if (unfiltered.length > 0) return startFiltering(state, source, unfiltered);
  return hasHook(state, "before-turn") && loop.admitted !== loop.turn
    ? askHooks(state, { point: "before-turn", source })
    : openTurn(state, source);
}

/** Behind a hook's yes. The words that the turn was for may have been cleared meanwhile, and others have come. */
export function startTurn(state: State, source: TurnSource): State {
  const loop = loopOf(state);
  const admitted = { ...state, loop: { ...loop, admitted: loop.turn } };
  const due = dueSource(admitted, source);
  return due === undefined ? goOn(admitted, undefined) : beginTurn(admitted, due);
}

function openTurn(state: State, source: TurnSource): State {
  const loop = loopOf(state);
  const opened = emit(
    { ...fadeTags(state), loop: { ...loop, turnUsage: NO_USAGE } },
    { type: "TurnStart", turn: loop.turn, trigger: triggerOf(state, loop) },
  );
  return askOrCompact(takeNotices(takeUpFor(source, promptEvents(opened))));
}

/** The turn is looked at anew: a stop, or other words, may have come while the filters were asked. */
export function filtered(state: State, phase: PhaseOf<"filtering">, digest: FilterDigest): State {
  const next = inputFiltered(state, phase, digest);
  return next.type === "closing" ? next.state : goOn(next.state, phase.source);
}

function askOrCompact(state: State): State {
  const due = compactionDue(state);
  return due === undefined ? askModel(state) : compact(state, due);
}

function compact(state: State, why: CompactionReason): State {
  return hasHook(state, "before-compaction")
    ? askHooks(state, { point: "before-compaction", why })
    : startCompaction(state, why);
}

/** The answer that the view was made smaller for; none in a loop that asks for none (CMP-13). */
export function behindCompaction(state: State, overflow = false): State {
  return isCompactionLoop(state) ? endCompactionLoop(state, undefined) : askModel(state, overflow);
}

/** Behind a stop. */
export function notCompacted(state: State, reason: string): State {
  return isCompactionLoop(state) ? endCompactionLoop(state, undefined) : abort(state, reason);
}

/** This cycle is left out; a context that the vendor has refused is not sent again as it is (CB-05). */
export function compactionRefused(
  state: State,
  why: CompactionReason,
  { hook, reason }: { readonly hook: string; readonly reason: string },
): State {
  if (why.type !== "overflow") {
    const { compact: _, ...rest } = state;
    return behindCompaction(rest);
  }
  const message = `${overflowMessage(state, why.said, false)} A compaction was refused by hook "${hook}": ${reason}`;
  return endWithoutAnswer(state, "error", message, { type: "failed", fault: "overflow", message });
}

export function compacted(state: State, phase: PhaseOf<"compacting">, digest: CompactDigest): State {
  const smaller = viewCompacted(state, phase, digest);
  if (state.stop !== undefined) return notCompacted(smaller, state.stop.reason);
  const overflow = phase.why.type === "overflow";
  if (overflow && digest.spans === undefined) {
    const message = "nothing more can be left out of it";
    return endUncompacted(smaller, phase.why, { fault: "overflow", message });
  }
  if (digest.spans === undefined || !hasHook(smaller, "after-compaction"))
    return behindCompaction(smaller, overflow);
  const { messagesBefore, messagesAfter, tokensBefore, tokensAfter } = digest;
  const counts = { messagesBefore, messagesAfter, tokensBefore, tokensAfter };
  return askHooks(smaller, { point: "after-compaction", counts, overflow });
}

/** A context that only grew is sent as it is; one that the vendor has refused is not. */
export function compactSetBack(state: State, phase: PhaseOf<"compacting">, setback: Setback): State {
  if (state.stop !== undefined) {
    return notCompacted(state, state.stop.reason);
  }
  const next = compactionSetBack(state, phase, setback);
  if (next.type === "again") return next.state;
  if (isCompactionLoop(state)) return endCompactionLoop(state, next.failure);
  if (next.type === "refused" && phase.why.type !== "overflow") return askModel(state);
  const { fault, message } = next.failure;
  return endUncompacted(state, phase.why, { fault, message });
}

function endUncompacted(state: State, why: CompactionReason, { fault, message }: Failure): State {
  const before = why.type === "overflow" ? `${overflowMessage(state, why.said, false)} ` : "";
  const text = `${before}The context could not be made smaller: ${message}`;
  return endWithoutAnswer(state, "error", text, { type: "failed", fault, message: text });
}

/**
 * The vendor says that the context does not fit: it is made smaller and sent once more (OVF-05, X-09). What was refused is
 * never sent again as it is.
 */
export function overflowed(state: State, phase: PhaseOf<"calling-model">, said: string): State {
  if (pinnedOf(state).context !== undefined && phase.compacted !== true) {
    return compact(state, { type: "overflow", said });
  }
  const message = overflowMessage(state, said, phase.compacted === true);
  return endWithoutAnswer(state, "error", message, { type: "failed", fault: "overflow", message });
}

/** Every prompt was known already: a retried send whose first try arrived. There is nothing to ask. */
function endUnasked(state: State): State {
  return closeLoop(state, { type: "delivered", messages: 0 });
}

/** LOOP-07. */
function triggerOf({ task }: State, loop: OpenLoop): TurnTrigger {
  if (loop.turn > 0) return "continuation";
  if (task !== undefined && loop.kind.type === "initial") return "subAgent";
  if (loop.kind.type === "initial") return "user";
  return loop.kind.type === "branch" ? "branch" : "continuation";
}

/** Steering was polled at the loop's entry already, before its prompts (LOOP-08, X-07). */
function takeUpFor(source: TurnSource, state: State): State {
  switch (source) {
    case "opening":
      return state;
    case "calls":
    case "on-text":
    case "steering":
      return takeUp(state, "steering");
    case "follow-up":
      return takeUp(state, "followUps");
    case "nudge":
      return nudge(state);
    case "repair":
      return repair(state);
  }
}

function takeUp(state: State, queue: "steering" | "followUps"): State {
  const polled = poll(state, queue);
  return polled.taken.reduce(
    (next, { origin, ...message }) => append(next, origin, { type: "person", message }, true),
    polled.taken.length === 0 ? polled.state : forgetMismatch(polled.state),
  );
}

/** What hooks have to say comes behind the words of people. */
function takeNotices(state: State): State {
  const { notices, ...loop } = loopOf(state);
  if (notices === undefined) return state;
  return notices.reduce<State>((next, text) => append(next, "machine", { type: "notice", text }, true), {
    ...state,
    loop,
  });
}

function askModel(state: State, compacted = false): State {
  const given = issue(state);
  const phase = { type: "calling-model" as const, issue: given.issue, attemptsBefore: 0 };
  return { ...given.state, phase: { ...phase, ...(compacted ? { compacted } : {}) } };
}

/** A limit ends the loop with words that the conversation keeps, not with an error (LOOP-12). */
function endAtLimit(state: State, reason: string): State {
  const told = append(
    promptEvents(state),
    "machine",
    { type: "notice", text: `[Agent stopped: ${reason}]` },
    true,
  );
  return closeLoop(told, { type: "limit-reached", reason });
}

/** The answer stands in the transcript: its calls are started, or the turn ends. */
export function modelReplied(state: State, phase: PhaseOf<"calling-model">, digest: ModelDigest): State {
  const position = state.length;
  const settled = withFallbackTold(settle(state, phase.issue, digest.branch), digest);
  const loop = loopOf(settled);
  const view = extendView(settled.view, { position, tokens: digest.tokens, newTurn: true });
  const counted = reportedBy(digest.usage, viewTokens(view));
  const heard = messageEvents(
    {
      ...settled,
      length: position + 1,
      view,
      ...(counted === undefined ? {} : { counted }),
      loop: {
        ...(digest.announces === true ? loop : countedAnew(loop)),
        usage: addUsage(loop.usage, digest.usage),
        turnUsage: digest.usage,
        costUsd: addCosts(loop.costUsd, digest.costUsd),
        lastStop: digest.stopReason,
        lastText: { preview: digest.preview, position, ...(digest.withheld ? { withheld: true } : {}) },
      },
    },
    position,
  );
  if (digest.overflow === true) return overflowed(heard, phase, digest.preview);
  const nudged = digest.announces === true && isNudgeDue(heard);
  if (digest.output !== undefined && !nudged) return claimsToBeLast(heard, position, digest, digest.output);
  const failed = digest.stopReason === "error" || digest.stopReason === "aborted";
  const announces = digest.announces === true ? { announces: digest.announces } : {};
  return digest.calls.length === 0 || failed
    ? { ...heard, phase: { type: "turn-over", position, results: 0, ...announces } }
    : startCalls(heard, position, digest.calls, isCutShort(digest.stopReason));
}

function withFallbackTold(state: State, { fellBack }: ModelDigest): State {
  if (fellBack === undefined) return state;
  return emit(state, { type: "ModelFellBack", turn: loopOf(state).turn, ...fellBack });
}

/** The answer is judged; its calls, all of the final tool, get the verdict as their results. */
function claimsToBeLast(
  state: State,
  position: number,
  { calls, stopReason }: ModelDigest,
  verdict: OutputVerdict,
): State {
  const judged = outputJudged(state, verdict, stopReason);
  const output = verdict.ok ? ("accepted" as const) : ("mismatch" as const);
  const result = { text: verdictText(verdict), accepted: verdict.ok };
  const over = { type: "turn-over" as const, position, results: calls.length, output };
  return { ...(calls.length === 0 ? judged : answerFinal(judged, position, calls, result)), phase: over };
}

/** At the output limit, or by the vendor's filter: no call of such an answer can be trusted (PHI-13m). */
function isCutShort(stopReason: StopReason): boolean {
  return stopReason === "length" || stopReason === "guardRail";
}
