import { assertNever } from "../../platform/text/assert-never.ts";
import { ProtocolError } from "../../platform/text/protocol-error.ts";
import type { Continuation, Limits } from "../../schema/definition.ts";
import { advance } from "./advance.ts";
import { approvalAnswered, approvalsCancelled, approvalsTimedOut, flushed } from "./approving.ts";
import { childFinished, childLost, childStarted } from "./children.ts";
import { loopClosed } from "./close.ts";
import { compactionAsked, openCompactionLoop } from "./compaction-loop.ts";
import { filterSetBack } from "./filtering.ts";
import { toolFinished, toolSetBack } from "./finished-calls.ts";
import { hookAnswered, hookSetBack } from "./hooked.ts";
import { settle } from "./issue.ts";
import { definitionMoved, moveSetBack, resume } from "./moved.ts";
import { updateAsked } from "./moving.ts";
import { offersChanged } from "./offers.ts";
import { loopOpened, openLoop } from "./open.ts";
import { inPhase, LOOP_OVER, type PhaseOf } from "./phase.ts";
import { clearQueues, enqueue, poll, remember } from "./queues.ts";
import { loopRefused, openingRejected } from "./reject.ts";
import { beforeRotation } from "./rotation.ts";
import {
  couldNotClose,
  couldNotOpen,
  couldNotRecord,
  flushSetBack,
  modelSetBack,
  setBack,
} from "./setbacks.ts";
import type { RunEvent } from "./state/run-event.ts";
import { type PersonMessage, RULES, STATE_VERSION, type State } from "./state/state.ts";
import { waitedSince, withTimeWaited } from "./time-waited.ts";
import { compacted, compactSetBack, filtered, modelReplied } from "./turn.ts";
import { stopWaiting, timeUp } from "./vendor-wait.ts";

/**
 * Folds what happened into the state. Total over what can happen: a second answer to a call that has its result
 * changes nothing, and an answer in a phase that did not ask for it is a `ProtocolError`. What leads from which phase to
 * which is listed in transitions.ts.
 */
export function apply(before: State, event: RunEvent): State {
  const nowMs = Math.max(before.nowMs, event.atMs);
  return advance(fold({ ...withTimeWaited(before, waitedSince(before, nowMs)), nowMs }, event));
}

function fold(state: State, event: RunEvent): State {
  switch (event.type) {
    case "begun":
      return begin(state);
    case "loop-opened": {
      const { prompts, continuation } = inPhase(state, "opening", event.type);
      const opened = loopOpened(state, event.digest, continuation !== undefined);
      const { rejected, rejectedBy } = event.digest;
      if (rejected === undefined) return opened;
      return rejectedBy === undefined
        ? openingRejected(opened, prompts, rejected, event.digest)
        : loopRefused(opened, prompts, { by: rejectedBy, reason: rejected });
    }
    case "open-set-back":
      return setBack(state, inPhase(state, "opening", event.type), event.setback, couldNotOpen);
    case "model-replied":
      return modelReplied(state, inPhase(state, "calling-model", event.type), event.digest);
    case "model-set-back":
      return modelSetBack(state, inPhase(state, "calling-model", event.type), event.setback);
    case "compacted":
      return compacted(state, inPhase(state, "compacting", event.type), event.digest);
    case "compact-set-back":
      return compactSetBack(state, inPhase(state, "compacting", event.type), event.setback);
    case "input-filtered":
      return filtered(state, inPhase(state, "filtering", event.type), event.digest);
    case "filter-set-back":
      return filterSetBack(state, inPhase(state, "filtering", event.type), event.setback);
    case "compaction-asked":
      return compactionAsked(state, event.focus);
    case "tool-finished":
      return toolFinished(state, inPhase(state, "calling-tools", event.type), event.call, event.digest);
    case "tool-set-back":
      return toolSetBack(state, inPhase(state, "calling-tools", event.type), event.call, event.setback);
    case "child-started":
      return childStarted(state, inPhase(state, "calling-tools", event.type), event.call, event.session);
    case "child-finished":
      return childFinished(state, inPhase(state, "calling-tools", event.type), event.call, event.report);
    case "child-lost": {
      const phase = inPhase(state, "calling-tools", event.type);
      return childLost(state, phase, event.call, event.how, event.report);
    }
    case "hooks-answered":
      return hookAnswered(state, inPhase(state, "hooking", event.type), event.digest);
    case "hook-set-back":
      return hookSetBack(state, inPhase(state, "hooking", event.type), event.setback);
    case "update-asked":
      return updateAsked(state, event.hash);
    case "definition-moved":
      return definitionMoved(state, inPhase(state, "moving", event.type), event.digest);
    case "move-set-back":
      return moveSetBack(state, inPhase(state, "moving", event.type), event.setback);
    case "loop-closed":
      return loopClosed(state, inPhase(state, "closing", event.type), event.digest);
    case "close-set-back":
      return setBack(state, inPhase(state, "closing", event.type), event.setback, couldNotClose);
    case "recorded":
      if (state.phase.type === "calling-tools") return flushed(state, state.phase, event.digest.branch);
      return recorded(state, inPhase(state, "recording", event.type), event.digest.branch);
    case "record-set-back":
      if (state.phase.type === "calling-tools") return flushSetBack(state, state.phase, event.setback);
      return setBack(state, inPhase(state, "recording", event.type), event.setback, couldNotRecord);
    case "prompted":
      return prompted(state, event.message);
    case "steered":
      return arrived(enqueue(state, "steering", event.message));
    case "followed-up":
      return arrived(enqueue(state, "followUps", event.message));
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
      return approvalAnswered(state, state.phase, event.toolCallId, event.answer, event.by);
    case "offers-changed":
      return offersChanged(state, event);
    case "stop-requested":
      return stopRequested(state, event.reason);
    case "rotation-due":
      return rotationDue(state);
    case "time-passed":
      return timePassed(state);
    default:
      return assertNever(event);
  }
}

function begin(state: State): State {
  const { phase } = state;
  if (state.version > STATE_VERSION || state.rules > RULES) {
    throw new ProtocolError(
      `This state is newer (version ${state.version}, rules ${state.rules}) than this release: use a newer worker`,
    );
  }
  if (phase.type === "rotating") return resume({ ...state, rules: RULES, rotate: false }, phase.resume);
  if (phase.type !== "starting") throw new ProtocolError(`"begun" while ${phase.type}`);
  if (phase.continuation !== undefined) return goOnFrom(state, phase.continuation, phase.prompts);
  if (phase.prompts.length === 0) return { ...state, phase: LOOP_OVER };
  return openWith(state, phase.prompts);
}

/**
 * What was queued comes behind what is there, and prompts behind that; the loop that goes on reads all of it with its
 * first request. The continuation is as it was sent: `open-loop` is the one to check it.
 */
function goOnFrom(state: State, continuation: Continuation, prompts: readonly PersonMessage[]): State {
  if (continuation?.kind?.type === "compaction") {
    const followUps = [...state.queues.followUps, ...prompts];
    return openCompactionLoop({ ...state, queues: { ...state.queues, followUps } }, continuation);
  }
  const polled = poll(state, "steering");
  const asked = prompts.map((message) => ({ ...message, origin: "prompt" as const }));
  return openLoop(polled.state, [...polled.taken, ...asked], continuation);
}

/** What was queued before a prompt comes before it (LOOP-08). */
function openWith(state: State, prompts: readonly PersonMessage[]): State {
  const polled = poll(state, "steering");
  return openLoop(polled.state, [
    ...polled.taken,
    ...prompts.map((message) => ({ ...message, origin: "prompt" as const })),
  ]);
}

function prompted(state: State, message: PersonMessage): State {
  if (state.recentIds.includes(message.id)) return state;
  inPhase(state, "waiting", "prompted");
  return openWith(remember(state, message.id), [message]);
}

/** A message that comes when the run is over keeps it open until the message lies in the inbox. */
function arrived(state: State): State {
  return state.phase.type === "ended" ? { ...state, phase: LOOP_OVER } : state;
}

/** For the loop that runs; the next one has the definition's again. */
function raiseLimits(state: State, limits: Partial<Limits>): State {
  const { pinned } = state;
  return pinned === undefined
    ? state
    : { ...state, pinned: { ...pinned, limits: { ...pinned.limits, ...limits } } };
}

function stopRequested(state: State, reason: string): State {
  if (state.stop !== undefined) return state;
  const stopped = { ...state, stop: { reason } };
  if (state.phase.type === "calling-tools") return approvalsCancelled(stopped);
  if (state.phase.type === "calling-model") return stopWaiting(stopped, state.phase, reason);
  return state.phase.type === "waiting" ? { ...stopped, phase: LOOP_OVER } : stopped;
}

function rotationDue(state: State): State {
  const due = { ...state, rotate: true };
  if (state.phase.type !== "waiting") return due;
  const { sinceMs, untilMs } = state.phase;
  return beforeRotation(due, { type: "wait", sinceMs, untilMs });
}

/** What was waited for has not come: a person, a vendor that may be asked again now, or a next prompt. */
function timePassed(state: State): State {
  const { phase } = state;
  if (phase.type === "calling-tools") return approvalsTimedOut(state);
  if (phase.type === "calling-model") return timeUp(state, phase);
  if (phase.type !== "waiting" || phase.untilMs === undefined || state.nowMs < phase.untilMs) return state;
  return { ...state, mode: "run", phase: LOOP_OVER };
}

function recorded(state: State, phase: PhaseOf<"recording">, branch: string): State {
  const settled = settle(state, phase.issue, branch);
  if (phase.afterwards.type === "end") return { ...settled, phase: LOOP_OVER };
  return beforeRotation(settled, phase.afterwards);
}
