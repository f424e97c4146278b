import { assertNever } from "../../platform/text/assert-never.ts";
import { ProtocolError } from "../../platform/text/protocol-error.ts";
import type { Continuation } from "../../schema/continuation.ts";
import type { Limits } from "../../schema/limits.ts";
import { advance } from "./advance.ts";
import { applyApprovalAnswer, cancelApprovals, expireApprovals, finishFlush } from "./approval-answers.ts";
import { failChild, finishChild, markChildStarted } from "./children.ts";
import { finishClosing } from "./close-loop.ts";
import { openCompactionLoop, requestCompaction } from "./compaction-loop.ts";
import { requestDefinitionUpdate } from "./definition-update.ts";
import { applyDefinitionUpdate, handleUpdateFailure, resume } from "./definition-update-result.ts";
import { completeDispatch } from "./dispatch.ts";
import { handleFilterFailure } from "./filter-input.ts";
import { finishTool, handleToolFailure } from "./finished-calls.ts";
import { applyHookResults, handleHookFailure } from "./hook-results.ts";
import { applyOpenedLoop, openLoop } from "./open-loop.ts";
import { LOOP_ENDED, type PhaseOf, requirePhase } from "./phase.ts";
import { clearQueues, enqueue, pollQueue, rememberId } from "./queues.ts";
import { rejectLoop, rejectOpening } from "./reject.ts";
import { prepareRotation } from "./rotation.ts";
import type { InboundMessage } from "./state/inbound-message.ts";
import type { RunEvent } from "./state/run-event.ts";
import { RULE_SET, STATE_VERSION, type State } from "./state/state.ts";
import {
  failClosing,
  failOpening,
  failRecording,
  handleFlushFailure,
  handleModelFailure,
  handleStepFailure,
} from "./step-failures.ts";
import { addWaitedTime, computeWaitedMs } from "./time-waited.ts";
import { finishTitling, handleTitleFailure } from "./title-result.ts";
import { applyToolListChange } from "./tool-list-change.ts";
import { applyModelReply, continueAfterFilters } from "./turn.ts";
import { finishCompaction, handleCompactionStepFailure } from "./turn-compaction.ts";
import { handleWaitTimer, stopWaiting } from "./vendor-wait.ts";

/**
 * Folds an event into the state. Total over what can happen: a second answer to a call that has its result changes
 * nothing, and an answer in a phase that did not ask for it is a `ProtocolError`. test/core/transitions.ts lists which phase leads
 * to which.
 */
export function apply(before: State, event: RunEvent): State {
  const nowMs = Math.max(before.nowMs, event.atMs);
  return advance(fold({ ...addWaitedTime(before, computeWaitedMs(before, nowMs)), nowMs }, event));
}

function fold(state: State, event: RunEvent): State {
  switch (event.type) {
    case "started":
      return begin(state);
    case "loop-opened": {
      const { prompts, continuation } = requirePhase(state, "opening", event.type);
      const opened = applyOpenedLoop(state, event.digest, continuation !== undefined);
      const { rejected, rejectedBy } = event.digest;
      if (rejected === undefined) return opened;
      return rejectedBy === undefined
        ? rejectOpening(opened, prompts, rejected, event.digest)
        : rejectLoop(opened, prompts, { by: rejectedBy, reason: rejected });
    }
    case "open-failed":
      return handleStepFailure(state, requirePhase(state, "opening", event.type), event.failure, failOpening);
    case "model-replied":
      return applyModelReply(state, requirePhase(state, "calling-model", event.type), event.digest);
    case "model-failed":
      return handleModelFailure(state, requirePhase(state, "calling-model", event.type), event.failure);
    case "compacted":
      return finishCompaction(state, requirePhase(state, "compacting", event.type), event.digest);
    case "compact-failed":
      return handleCompactionStepFailure(state, requirePhase(state, "compacting", event.type), event.failure);
    case "input-filtered":
      return continueAfterFilters(state, requirePhase(state, "filtering", event.type), event.digest);
    case "filter-failed":
      return handleFilterFailure(state, requirePhase(state, "filtering", event.type), event.failure);
    case "compaction-requested":
      return requestCompaction(state, event.focus);
    case "tool-finished":
      return finishTool(state, requirePhase(state, "calling-tools", event.type), event.call, event.digest);
    case "tool-failed":
      return handleToolFailure(
        state,
        requirePhase(state, "calling-tools", event.type),
        event.call,
        event.failure,
      );
    case "child-started":
      return markChildStarted(
        state,
        requirePhase(state, "calling-tools", event.type),
        event.call,
        event.session,
      );
    case "child-finished":
      return finishChild(state, requirePhase(state, "calling-tools", event.type), event.call, event.report);
    case "child-lost": {
      const phase = requirePhase(state, "calling-tools", event.type);
      return failChild(state, phase, event.call, event.reason, event.report);
    }
    case "hooks-answered":
      return applyHookResults(state, requirePhase(state, "running-hooks", event.type), event.digest);
    case "hook-failed":
      return handleHookFailure(state, requirePhase(state, "running-hooks", event.type), event.failure);
    case "definition-update-requested":
      return requestDefinitionUpdate(state, event.hash);
    case "definition-updated":
      return applyDefinitionUpdate(
        state,
        requirePhase(state, "updating-definition", event.type),
        event.digest,
      );
    case "definition-update-failed":
      return handleUpdateFailure(
        state,
        requirePhase(state, "updating-definition", event.type),
        event.failure,
      );
    case "title-made":
      return finishTitling(state, requirePhase(state, "titling", event.type), event.digest);
    case "title-failed":
      return handleTitleFailure(state, requirePhase(state, "titling", event.type), event.failure);
    case "loop-closed":
      return finishClosing(state, requirePhase(state, "closing", event.type), event.digest);
    case "close-failed":
      return handleStepFailure(state, requirePhase(state, "closing", event.type), event.failure, failClosing);
    case "recorded":
      if (state.phase.type === "calling-tools") return finishFlush(state, state.phase, event.digest.branch);
      return finishRecording(state, requirePhase(state, "recording", event.type), event.digest.branch);
    case "record-failed":
      if (state.phase.type === "calling-tools") return handleFlushFailure(state, state.phase, event.failure);
      return handleStepFailure(
        state,
        requirePhase(state, "recording", event.type),
        event.failure,
        failRecording,
      );
    case "prompted":
      return receivePrompt(state, event.message);
    case "steered":
      return keepRunOpen(enqueue(state, "steering", event.message));
    case "followed-up":
      return keepRunOpen(enqueue(state, "followUps", event.message));
    case "queue-mode-set": {
      const mode = event.queue === "steering" ? { steeringMode: event.mode } : { followUpMode: event.mode };
      return { ...state, queues: { ...state.queues, ...mode } };
    }
    case "limits-raised":
      return raiseLimits(state, event.limits);
    case "queues-cleared":
      return { ...state, queues: clearQueues(state.queues, event.queue) };
    case "approval-answered":
      if (state.phase.type !== "calling-tools") return state;
      return applyApprovalAnswer(state, state.phase, event.toolCallId, event.answer, event.by);
    case "title-changed":
      return state.showsTitle === true ? { ...state, title: { text: event.title, by: "user" } } : state;
    case "tool-list-changed":
      return applyToolListChange(state, event);
    case "stop-requested":
      return requestStop(state, event.reason);
    case "rotation-requested":
      return requestRotation(state);
    case "timer-fired":
      return handleTimer(state);
    default:
      return assertNever(event);
  }
}

function begin(state: State): State {
  const { phase } = state;
  if (state.version > STATE_VERSION || state.ruleSet > RULE_SET) {
    throw new ProtocolError(
      `This state (version ${state.version}, rules ${state.ruleSet}) is newer than this release: use a newer worker`,
    );
  }
  if (phase.type === "rotating")
    return resume({ ...state, ruleSet: RULE_SET, rotationRequested: false }, phase.resume);
  if (phase.type !== "starting") throw new ProtocolError(`"started" while ${phase.type}`);
  if (phase.continuation !== undefined) return continueConversation(state, phase.continuation, phase.prompts);
  if (phase.prompts.length === 0) return { ...state, phase: LOOP_ENDED };
  return openWithPrompts(state, phase.prompts);
}

/**
 * Queued messages follow the existing conversation, and prompts follow them; the loop reads all of it with its first
 * request. The continuation is passed on as it was sent: `open-loop` checks it.
 */
function continueConversation(
  state: State,
  continuation: Continuation,
  prompts: readonly InboundMessage[],
): State {
  if (continuation?.kind?.type === "compaction") {
    const followUps = [...state.queues.followUps, ...prompts];
    return openCompactionLoop({ ...state, queues: { ...state.queues, followUps } }, continuation);
  }
  const polled = pollQueue(state, "steering");
  const asked = prompts.map((message) => ({ ...message, origin: "prompt" as const }));
  return openLoop(polled.state, [...polled.taken, ...asked], continuation);
}

/** Opens a loop with prompts. Messages that were queued before a prompt precede it (LOOP-08). */
function openWithPrompts(state: State, prompts: readonly InboundMessage[]): State {
  const polled = pollQueue(state, "steering");
  return openLoop(polled.state, [
    ...polled.taken,
    ...prompts.map((message) => ({ ...message, origin: "prompt" as const })),
  ]);
}

function receivePrompt(state: State, message: InboundMessage): State {
  if (state.recentIds.includes(message.id)) return state;
  requirePhase(state, "waiting", "prompted");
  return openWithPrompts(rememberId(state, message.id), [message]);
}

/** Keeps the run open, when a message arrives after its end, until the message is in the inbox. */
function keepRunOpen(state: State): State {
  return state.phase.type === "ended" ? { ...state, phase: LOOP_ENDED } : state;
}

/** Raises the limits of the running loop; the next loop has the definition's limits again. */
function raiseLimits(state: State, limits: Partial<Limits>): State {
  const { pinned } = state;
  return pinned === undefined
    ? state
    : { ...state, pinned: { ...pinned, limits: { ...pinned.limits, ...limits } } };
}

function requestStop(state: State, reason: string): State {
  if (state.stop !== undefined) return state;
  const stopped = { ...state, stop: { reason } };
  if (state.phase.type === "calling-tools") return cancelApprovals(stopped);
  if (state.phase.type === "calling-model") return stopWaiting(stopped, state.phase, reason);
  return state.phase.type === "waiting" ? { ...stopped, phase: LOOP_ENDED } : stopped;
}

function requestRotation(state: State): State {
  const due = { ...state, rotationRequested: true };
  if (state.phase.type !== "waiting") return due;
  const { sinceMs, untilMs } = state.phase;
  return prepareRotation(due, { type: "wait", sinceMs, untilMs });
}

/** Handles a timeout: of an approval, of a vendor that may be called again, or of an idle run without a prompt. */
function handleTimer(state: State): State {
  const { phase } = state;
  if (phase.type === "calling-tools") return expireApprovals(state);
  if (phase.type === "calling-model") return handleWaitTimer(state, phase);
  if (phase.type !== "waiting" || phase.untilMs === undefined || state.nowMs < phase.untilMs) return state;
  return { ...state, mode: "run", phase: LOOP_ENDED };
}

function finishRecording(state: State, phase: PhaseOf<"recording">, branch: string): State {
  const settled = completeDispatch(state, phase.dispatch, branch);
  if (phase.continueWith.type === "end") return { ...settled, phase: LOOP_ENDED };
  return prepareRotation(settled, phase.continueWith);
}
