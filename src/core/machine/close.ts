import type { Outcome } from "../../schema/record.ts";
import { addCosts } from "../budget/usage.ts";
import { promptEvents } from "./append.ts";
import { taskTotals } from "./children.ts";
import { costBelow } from "./children-shown.ts";
import { askHooks, hasHook } from "./hooking.ts";
import { issue, settle } from "./issue.ts";
import { startMove } from "./moving.ts";
import { openLoop } from "./open.ts";
import { emit } from "./outbox.ts";
import { loopOf, type PhaseOf } from "./phase.ts";
import { allQueued, poll } from "./queues.ts";
import { beforeRotation } from "./rotation.ts";
import { givenOf } from "./shares.ts";
import type { ClosedDigest } from "./state/digest.ts";
import type { LastLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";

/**
 * The loop's terminal event, once, whatever the way out; `close-loop` takes it along. Another definition that was
 * asked for comes before it; behind words that were rejected, when the loop is over.
 */
export function closeLoop(state: State, outcome: Outcome): State {
  if (state.update !== undefined && outcome.type !== "rejected")
    return startMove(state, state.update.hash, { type: "close", outcome });
  const told = promptEvents(state);
  const loop = loopOf(told);
  const ended = emit(told, {
    type: "AgentEnd",
    from: loop.from,
    to: state.length,
    usage: loop.usage,
    outcome,
    ...(outcome.type === "rejected" ? { rejection: outcome.reason } : {}),
  });
  const given = issue(ended);
  return { ...given.state, phase: { type: "closing", issue: given.issue, outcome } };
}

export function loopClosed(state: State, phase: PhaseOf<"closing">, digest: ClosedDigest): State {
  const loop = loopOf(state);
  const below = costBelow(state);
  const last: LastLoop = {
    outcome: phase.outcome,
    loopId: loop.loopId,
    ...(digest.text === undefined ? {} : { text: digest.text }),
    ...(digest.position === undefined ? {} : { position: digest.position }),
    ...(digest.json === undefined ? {} : { json: digest.json }),
    ...(digest.words === undefined ? {} : { words: digest.words }),
  };
  return {
    ...settle(state, phase.issue, digest.branch),
    loop: undefined,
    last,
    totals: {
      loops: state.totals.loops + 1,
      turns: state.totals.turns + loop.turn,
      costUsd: addCosts(state.totals.costUsd, loop.costUsd),
      ...(below === 0 ? {} : { costBelowUsd: below }),
      ...(givenOf(state) === undefined ? {} : taskTotals(state, loop)),
    },
    phase: { type: "loop-over" },
  };
}

/**
 * What comes when no loop is open. Messages that arrived too late for the loop are looked for first: an
 * interactive run answers them at once, a run that ends leaves them in the session's inbox (design 3.4). After
 * a rejected prompt they wait, and follow-ups after a limit, in their queues for the next prompt.
 */
export function afterLoop(state: State): State {
  if (state.update !== undefined) return startMove(state, state.update.hash, { type: "loop-over" });
  const queued = allQueued(state.queues);
  const ending = state.mode === "run" || state.stop !== undefined;
  if (ending && queued.length > 0) return leaveInInbox(state);
  if (ending) {
    return isTaskOver(state)
      ? askHooks(state, { point: "after-task" })
      : { ...state, phase: { type: "ended" } };
  }
  return queued.length > 0 && !waitsWithQueue(state) ? answerQueued(state) : waitForPrompt(state);
}

/** A task is over when its run ends at rest, whatever the way (CB-07); one that was refused has not begun. */
function isTaskOver({ last, taskOver, ...state }: State): boolean {
  const refused = last?.outcome.type === "rejected" && last.outcome.by !== undefined;
  return taskOver !== true && !refused && state.totals.loops > 0 && hasHook({ last, ...state }, "after-task");
}

function leaveInInbox(state: State): State {
  const inbox = allQueued(state.queues);
  const given = issue(state);
  return {
    ...given.state,
    queues: { ...state.queues, steering: [], followUps: [] },
    last: delivered(state.last, inbox.length),
    phase: { type: "recording", issue: given.issue, inbox, afterwards: { type: "end" } },
  };
}

/** A run that only delivers counts what it has delivered; any other keeps how its loop ended. */
function delivered(last: LastLoop | undefined, more: number): LastLoop {
  if (last !== undefined && last.outcome.type !== "delivered") return last;
  const before = last?.outcome.type === "delivered" ? last.outcome.messages : 0;
  return { ...last, outcome: { type: "delivered", messages: before + more } };
}

/**
 * After words that were rejected the messages wait for the next prompt; after a limit follow-ups do. They were meant for an
 * agent that is done, and a loop that began at once would have all its limits anew. Steering was said to the agent at work,
 * so it is answered.
 */
function waitsWithQueue({ last, queues }: State): boolean {
  if (last?.outcome.type === "limit-reached") return queues.steering.length === 0;
  return last?.outcome.type === "rejected";
}

/** As a poll takes them (STEER-02): steering first; what is left is read by the turns of the loop. */
function answerQueued(state: State): State {
  const steering = poll(state, "steering");
  const { state: left, taken } = steering.taken.length > 0 ? steering : poll(state, "followUps");
  return openLoop(left, taken);
}

function waitForPrompt(state: State): State {
  const untilMs = state.idleTimeoutMs === null ? undefined : state.nowMs + state.idleTimeoutMs;
  const phase = { type: "waiting" as const, sinceMs: state.nowMs, untilMs };
  return state.rotate
    ? beforeRotation(state, { type: "wait", sinceMs: state.nowMs, untilMs })
    : { ...state, phase };
}
