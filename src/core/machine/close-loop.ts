import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Outcome } from "../../schema/record.ts";
import { addCosts, addUsage, NO_USAGE } from "../budget/usage.ts";
import { emitPromptEvents } from "./append-message.ts";
import { getAllocation } from "./child-shares.ts";
import { addTaskTotals } from "./children.ts";
import { sumChildrenCost } from "./children-summary.ts";
import { startDefinitionUpdate } from "./definition-update.ts";
import { completeDispatch, dispatch } from "./dispatch.ts";
import { startTitling, wantsTitle } from "./make-title.ts";
import { openLoop } from "./open-loop.ts";
import { emit } from "./outbox.ts";
import { type PhaseOf, requireLoop } from "./phase.ts";
import { listQueued, pollQueue } from "./queues.ts";
import { prepareRotation } from "./rotation.ts";
import { askHooks, hasHook } from "./run-hooks.ts";
import type { ClosedDigest } from "./state/digest.ts";
import type { LastLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";
import { getOutputRepairs } from "./structured-output.ts";

/**
 * Emits the loop's terminal event, once, however the loop ends; `close-loop` carries it. A title is requested
 * and a requested definition update is applied first; after rejected prompts it is applied when the loop has ended.
 */
export function closeLoop(state: State, outcome: Outcome): State {
  if (wantsTitle(state, outcome)) return startTitling(state, outcome);
  if (state.requestedUpdate !== undefined && outcome.type !== "rejected")
    return startDefinitionUpdate(state, state.requestedUpdate.hash, { type: "close", outcome });
  const emitted = emitPromptEvents(state);
  const loop = requireLoop(emitted);
  const repairs = getOutputRepairs(loop, outcome);
  const ended = emit(emitted, {
    type: "AgentEnd",
    from: loop.from,
    to: state.length,
    usage: loop.usage,
    outcome,
    ...(outcome.type === "rejected" ? { rejection: outcome.reason } : {}),
    ...(repairs === undefined ? {} : { repairs: [...repairs] }),
  });
  const given = dispatch(ended);
  return {
    ...given.state,
    phase: { type: "closing", dispatch: given.dispatch, outcome, endedAtMs: state.nowMs },
  };
}

export function finishClosing(state: State, phase: PhaseOf<"closing">, digest: ClosedDigest): State {
  const loop = requireLoop(state);
  const below = sumChildrenCost(state);
  const last: LastLoop = {
    outcome: phase.outcome,
    loopId: loop.loopId,
    ...omitUndefined({
      text: digest.text,
      position: digest.position,
      json: digest.json,
      repairs: getOutputRepairs(loop, phase.outcome),
      lastAnswer: digest.lastAnswer,
    }),
  };
  return {
    ...completeDispatch(state, phase.dispatch, digest.branch),
    loop: undefined,
    last,
    totals: {
      loops: state.totals.loops + 1,
      turns: state.totals.turns + loop.turn,
      costUsd: addCosts(state.totals.costUsd, loop.costUsd),
      ...(below === 0 ? {} : { costBelowUsd: below }),
      usage: addUsage(state.totals.usage ?? NO_USAGE, loop.usage),
      durationMs: (state.totals.durationMs ?? 0) + phase.endedAtMs - loop.startedAtMs,
      ...(getAllocation(state) === undefined ? {} : addTaskTotals(state, loop)),
    },
    phase: { type: "loop-ended" },
  };
}

/**
 * Continues when no loop is open. Messages that arrived too late for the loop come first: an interactive run answers them
 * at once, and a run that ends leaves them in the session's inbox (design 3.4). After a rejected prompt they wait in
 * their queues for the next prompt, and so do follow-ups after a limit.
 */
export function continueAfterLoop(state: State): State {
  if (state.requestedUpdate !== undefined)
    return startDefinitionUpdate(state, state.requestedUpdate.hash, { type: "loop-ended" });
  const queued = listQueued(state.queues);
  const ending = state.mode === "run" || state.stop !== undefined;
  if (ending && queued.length > 0) return recordToInbox(state);
  if (ending) {
    return isTaskEnded(state)
      ? askHooks(state, { point: "after-task" })
      : { ...state, phase: { type: "ended" } };
  }
  return queued.length > 0 && !keepsQueueWaiting(state) ? answerQueued(state) : waitForPrompt(state);
}

/** Reports whether the task has ended: its run ends idle, however it ends (CB-07). A rejected task has not begun. */
function isTaskEnded({ last, isTaskEnded: taskOver, ...state }: State): boolean {
  const refused = last?.outcome.type === "rejected" && last.outcome.by !== undefined;
  return taskOver !== true && !refused && state.totals.loops > 0 && hasHook({ last, ...state }, "after-task");
}

function recordToInbox(state: State): State {
  const inbox = listQueued(state.queues);
  const given = dispatch(state);
  return {
    ...given.state,
    queues: { ...state.queues, steering: [], followUps: [] },
    last: countDelivered(state.last, inbox.length),
    phase: { type: "recording", dispatch: given.dispatch, inbox, continueWith: { type: "end" } },
  };
}

/** Counts delivered messages for a run that only delivers; any other run retains how its loop ended. */
function countDelivered(last: LastLoop | undefined, more: number): LastLoop {
  if (last !== undefined && last.outcome.type !== "delivered") return last;
  const before = last?.outcome.type === "delivered" ? last.outcome.messages : 0;
  return { ...last, outcome: { type: "delivered", messages: before + more } };
}

/**
 * Reports whether queued messages wait for the next prompt: all of them after rejected prompts, follow-ups after a limit,
 * a pause or a handoff. Follow-ups were meant for an agent that is done, and a loop that began at once would start with
 * all its limits unused. Steering was sent to the running agent, so it is answered.
 */
function keepsQueueWaiting({ last, queues }: State): boolean {
  switch (last?.outcome.type) {
    case "limit-reached":
    case "paused":
    case "handoff":
      return queues.steering.length === 0;
    default:
      return last?.outcome.type === "rejected";
  }
}

/** Opens a loop with queued messages, as a poll takes them (STEER-02): steering first. Its turns read the rest. */
function answerQueued(state: State): State {
  const steering = pollQueue(state, "steering");
  const { state: left, taken } = steering.taken.length > 0 ? steering : pollQueue(state, "followUps");
  return openLoop(left, taken);
}

function waitForPrompt(state: State): State {
  const untilMs = state.idleTimeoutMs === null ? undefined : state.nowMs + state.idleTimeoutMs;
  const phase = { type: "waiting" as const, sinceMs: state.nowMs, untilMs };
  return state.rotationRequested
    ? prepareRotation(state, { type: "wait", sinceMs: state.nowMs, untilMs })
    : { ...state, phase };
}
