import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { StopReason } from "../../schema/message.ts";
import type { TurnTrigger } from "../../schema/record.ts";
import { addCosts, addUsage, NO_USAGE } from "../budget/usage.ts";
import { extendView, sumViewTokens } from "../view/view.ts";
import { appendMessage, emitMessageEvents, emitPromptEvents } from "./append-message.ts";
import { fadeTags } from "./apply-reverts.ts";
import { askModel } from "./ask-model.ts";
import { CUT_OFF_TEXT, startCalls, TEXT_ONLY_TEXT } from "./call-batches.ts";
import { answerFinalCalls } from "./call-results.ts";
import { findExhaustedLimit } from "./child-shares.ts";
import { closeLoop } from "./close-loop.ts";
import { findCompactionReason } from "./compact-view.ts";
import { beginCompactionLoop, isCompactionLoop } from "./compaction-loop.ts";
import { getReportedSize } from "./compaction-trigger.ts";
import { startDefinitionUpdate } from "./definition-update.ts";
import { completeDispatch } from "./dispatch.ts";
import { applyVerdicts, listUnfiltered, startFiltering } from "./filter-input.ts";
import { appendNudge, isNudgeDue, resetNudges } from "./nudges.ts";
import { emit } from "./outbox.ts";
import { type PhaseOf, requireLoop } from "./phase.ts";
import { pollQueue } from "./queues.ts";
import { resetRepeats } from "./repeated-failures.ts";
import { prepareRotation } from "./rotation.ts";
import { askHooks, hasHook, isTextOnly } from "./run-hooks.ts";
import type { FilterDigest, ModelDigest, OutputVerdict } from "./state/digest.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";
import type { TurnSource } from "./state/turn-ending.ts";
import { appendRepairMessage, applyVerdict, formatVerdict, resetMismatch } from "./structured-output.ts";
import { handleOverflow, startTurnCompaction } from "./turn-compaction.ts";
import { resolveNextSource, startNextTurn } from "./turn-end.ts";

/**
 * Begins a turn, or ends the loop instead: stop, definition update, limits, filters, [before-turn], TurnStart, the
 * waiting messages.
 *
 * Queues are read only once the turn is sure to begin: a message that meets a limit stays where it is.
 */
export function beginTurn(state: State, source: TurnSource): State {
  if (isCompactionLoop(state)) return beginCompactionLoop(state, startTurnCompaction);
  if (state.stop !== undefined) return closeLoop(state, { type: "stopped", reason: state.stop.reason });
  if (state.requestedUpdate !== undefined)
    return startDefinitionUpdate(state, state.requestedUpdate.hash, { type: "turn", source });
  const loop = requireLoop(state);
  const isAsked = loop.isContinuation === true || state.length > loop.from;
  if (source === "opening" && !isAsked) return endWithoutRequest(state);
  // A user who sends a message to a stuck agent wants it to continue with that message.
  if (loop.stuckReason !== undefined && state.queues.steering.length > 0)
    return beginTurn(resetRepeats(state), source);
  const reason = findExhaustedLimit(state) ?? loop.stuckReason;
  if (reason !== undefined) return endAtLimit(state, reason);
  if (state.rotationRequested) return prepareRotation(state, { type: "turn", source });
  const unfiltered = listUnfiltered(state, source);
  if (unfiltered.length > 0) return startFiltering(state, source, unfiltered);
  return hasHook(state, "before-turn") && loop.admittedTurn !== loop.turn
    ? askHooks(state, { point: "before-turn", source })
    : openTurn(state, source);
}

/** Starts the turn that hooks have admitted. Its messages may have been cleared meanwhile, and others may have arrived. */
export function startTurn(state: State, source: TurnSource): State {
  const loop = requireLoop(state);
  const admitted = { ...state, loop: { ...loop, admittedTurn: loop.turn } };
  const due = resolveNextSource(admitted, source);
  return due === undefined ? startNextTurn(admitted, undefined) : beginTurn(admitted, due);
}

function openTurn(state: State, source: TurnSource): State {
  const loop = requireLoop(state);
  const opened = emit(
    { ...fadeTags(state), loop: { ...loop, turnUsage: NO_USAGE } },
    {
      type: "TurnStart",
      turn: loop.turn,
      trigger: getTurnTrigger(state, loop),
      ...(isTextOnly(loop) ? { textOnly: true as const } : {}),
    },
  );
  return askOrCompact(takeNotices(takeMessages(source, emitPromptEvents(opened))));
}

/** Continues after the filters. A stop or other messages may have arrived while they ran. */
export function continueAfterFilters(state: State, phase: PhaseOf<"filtering">, digest: FilterDigest): State {
  const next = applyVerdicts(state, phase, digest);
  return next.type === "closing" ? next.state : startNextTurn(next.state, phase.source);
}

function askOrCompact(state: State): State {
  const due = findCompactionReason(state);
  return due === undefined ? askModel(state) : startTurnCompaction(state, due);
}

/** Ends the run without a request: every prompt was known, because a retried send had already arrived. */
function endWithoutRequest(state: State): State {
  return closeLoop(state, { type: "delivered", messages: 0 });
}

/** Returns what triggers the turn (LOOP-07). */
function getTurnTrigger({ task }: State, loop: OpenLoop): TurnTrigger {
  if (loop.turn > 0) return "continuation";
  if (task !== undefined && loop.kind.type === "initial") return "subAgent";
  if (loop.kind.type === "initial") return "user";
  return loop.kind.type === "branch" ? "branch" : "continuation";
}

/** Takes the turn's messages. Steering was already polled at the loop's entry, before its prompts (LOOP-08, X-07). */
function takeMessages(source: TurnSource, state: State): State {
  switch (source) {
    case "opening":
      return state;
    case "calls":
    case "on-text":
    case "steering":
      return takeQueue(state, "steering");
    case "follow-up":
      return takeQueue(state, "followUps");
    case "nudge":
      return appendNudge(state);
    case "repair":
      return appendRepairMessage(state);
  }
}

function takeQueue(state: State, queue: "steering" | "followUps"): State {
  const polled = pollQueue(state, queue);
  return polled.taken.reduce(
    (next, { origin, ...message }) => appendMessage(next, origin, { type: "user", message }, true),
    polled.taken.length === 0 ? polled.state : resetMismatch(polled.state),
  );
}

/** Appends the notices of hooks after the user messages. */
function takeNotices(state: State): State {
  const { notices, ...loop } = requireLoop(state);
  if (notices === undefined) return state;
  return notices.reduce<State>(
    (next, text) => appendMessage(next, "machine", { type: "notice", text }, true),
    {
      ...state,
      loop,
    },
  );
}

/** Ends the loop at a limit with a message in the conversation, not with an error (LOOP-12). */
function endAtLimit(state: State, reason: string): State {
  const appended = appendMessage(
    emitPromptEvents(state),
    "machine",
    { type: "notice", text: `[Agent stopped: ${reason}]` },
    true,
  );
  return closeLoop(appended, { type: "limit-reached", reason });
}

/** Continues after an answer in the transcript: starts its calls, or ends the turn. */
export function applyModelReply(state: State, phase: PhaseOf<"calling-model">, digest: ModelDigest): State {
  const position = state.length;
  const settled = emitFallback(completeDispatch(state, phase.dispatch, digest.branch), digest);
  const loop = requireLoop(settled);
  const view = extendView(settled.view, { position, tokens: digest.tokens, newTurn: true });
  const counted = getReportedSize(digest.usage, sumViewTokens(view));
  const emitted = emitMessageEvents(
    {
      ...settled,
      length: position + 1,
      view,
      ...omitUndefined({ reportedSize: counted }),
      loop: {
        ...(digest.announcesCall === true ? loop : resetNudges(loop)),
        usage: addUsage(loop.usage, digest.usage),
        turnUsage: digest.usage,
        costUsd: addCosts(loop.costUsd, digest.costUsd),
        lastStop: digest.stopReason,
        lastText: { preview: digest.preview, position, ...(digest.isWithheld ? { isWithheld: true } : {}) },
      },
    },
    position,
  );
  if (digest.isOverflow === true) return handleOverflow(emitted, phase, digest.preview);
  const nudged = digest.announcesCall === true && isNudgeDue(emitted);
  if (digest.outputVerdict !== undefined && !nudged)
    return applyFinalAnswer(emitted, position, digest, digest.outputVerdict);
  const failed = digest.stopReason === "error" || digest.stopReason === "aborted";
  const announces = digest.announcesCall === true ? { announcesCall: digest.announcesCall } : {};
  return digest.calls.length === 0 || failed
    ? { ...emitted, phase: { type: "turn-ended", position, results: 0, ...announces } }
    : startCalls(
        countCalls(emitted, digest.calls.length),
        position,
        digest.calls,
        findRefusalOfAll(loop, digest.stopReason),
      );
}

function countCalls(state: State, count: number): State {
  const loop = requireLoop(state);
  return { ...state, loop: { ...loop, toolCalls: (loop.toolCalls ?? 0) + count } };
}

function emitFallback(state: State, { fallback }: ModelDigest): State {
  if (fallback === undefined) return state;
  return emit(state, { type: "ModelFallback", turn: requireLoop(state).turn, ...fallback });
}

/** Judges the answer; its calls, all of the final tool, get the verdict as their results. */
function applyFinalAnswer(
  state: State,
  position: number,
  { calls, stopReason }: ModelDigest,
  verdict: OutputVerdict,
): State {
  const judged = applyVerdict(state, verdict, stopReason);
  const output = verdict.ok ? ("accepted" as const) : ("mismatch" as const);
  const result = { text: formatVerdict(verdict), accepted: verdict.ok };
  const over = { type: "turn-ended" as const, position, results: calls.length, outputVerdict: output };
  return {
    ...(calls.length === 0 ? judged : answerFinalCalls(judged, position, calls, result)),
    phase: over,
  };
}

/** Returns why no call of an answer runs: the answer was cut off, or it should have had none. */
function findRefusalOfAll(loop: OpenLoop, stopReason: StopReason): string | undefined {
  if (isTruncated(stopReason)) return CUT_OFF_TEXT;
  return isTextOnly(loop) ? TEXT_ONLY_TEXT : undefined;
}

/** Ended at the output limit or by the vendor's filter: no call of such an answer can be trusted (PHI-13m). */
function isTruncated(stopReason: StopReason): boolean {
  return stopReason === "length" || stopReason === "guardRail";
}
