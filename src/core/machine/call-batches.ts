import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { emitMessageEvents } from "./append-message.ts";
import { applyPrunes, getReverts } from "./apply-prunes.ts";
import { decidePermit } from "./approvals.ts";
import {
  beginCall,
  failCall,
  findCallFailure,
  findRefusal,
  type HookDenial,
  replaceCall,
  takesOutbox,
} from "./begin-call.ts";
import { answerCall, buildDoneStatus, buildPendingCall, joinResults } from "./call-results.ts";
import { reserveShares } from "./child-shares.ts";
import { dispatch } from "./dispatch.ts";
import { findBasePosition, isEmpty } from "./outbox.ts";
import { requireLoop, requirePinned } from "./phase.ts";
import { resetFailureCount } from "./repeated-failures.ts";
import { askHooks, hasHook } from "./run-hooks.ts";
import type { Call, CallBatch, CallingTools, CallStatus, DoneStatus } from "./state/call-status.ts";
import type { CallDigest } from "./state/digest.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";

// The calls of one answer, unit by unit: one call, a batch, or all of them, by strategy (TOOL-07). Results follow the
// answer in call order, whichever call ends first (TOOL-08).

/** STEER-05, X-06. */
const SKIPPED_TEXT = "Skipped due to queued user message.";
export const CANCELLED_TEXT = "Cancelled";
/** HITL-05. */
const LOOP_ENDED_TEXT = "Not run: an earlier call of this answer has ended your work.";
/** GAP-05, PHI-13m. */
export const CUT_OFF_TEXT =
  "Not run: the answer was cut off by the output limit before its calls were complete. Call again with smaller arguments.";

/** IRON-05. */
export const TEXT_ONLY_TEXT = "Not run: this turn had to be answered with text, without tool calls.";

/** What only a call that is done may have. */
type Marks = Pick<CallStatus, "type"> & Pick<DoneStatus, "awaitsHooks" | "endsLoop">;

/** @param refusal - Why none of the calls runs, for the model; absent when they may. */
export function startCalls(
  state: State,
  position: number,
  digests: readonly CallDigest[],
  refusal: string | undefined,
): State {
  const calls = digests.map(buildPendingCall);
  const given = dispatch(state);
  const phase: CallingTools = {
    type: "calling-tools",
    dispatch: given.dispatch,
    position,
    calls,
    batch: buildBatch(given.state, position, calls, { from: 0, to: 0 }),
  };
  const started = { ...given.state, phase };
  return refusal === undefined
    ? startNextBatch(started, phase)
    : finishCalls(refuseRemaining(started, phase, refusal));
}

/** Starts the next unit, or skips the remaining calls when the user has sent steering or has stopped the run. */
function startNextBatch(state: State, phase: CallingTools): State {
  const from = phase.batch.to;
  if (from >= phase.calls.length) return finishCalls(state);
  const barred = findBarrier(state, phase);
  if (barred !== undefined) return finishCalls(refuseRemaining(state, phase, barred));
  const asked = hasHook(state, "before-tool") ? findRunnableCalls(state, phase) : [];
  return asked.length > 0
    ? askHooks(state, { point: "before-tool", phase, calls: asked })
    : startBatch(state, phase, new Map());
}

/** Applies the decisions of hooks on the next unit. After a stop or steering the unit does not start anyway. */
export function applyBeforeToolDecisions(
  state: State,
  phase: CallingTools,
  refusals: ReadonlyMap<number, HookDenial>,
): State {
  const back = { ...state, phase };
  const barred = findBarrier(back, phase);
  return barred === undefined
    ? startBatch(back, phase, refusals)
    : finishCalls(refuseRemaining(back, phase, barred));
}

/** Returns the calls of the next unit that the policy allows to run or leaves to the user. */
function findRunnableCalls(state: State, phase: CallingTools): readonly number[] {
  const indices = phase.calls.keys();
  return [...indices].slice(phase.batch.to, findBatchEnd(state, phase)).filter((index) => {
    const call = phase.calls[index] as Call;
    return findRefusal(state, call) === undefined && decidePermit(state, call).outcome !== "deny";
  });
}

function startBatch(state: State, phase: CallingTools, refusals: ReadonlyMap<number, HookDenial>): State {
  const from = phase.batch.to;
  const to = findBatchEnd(state, phase);
  const begins = [...phase.calls.keys()].slice(from, to).filter((index) => {
    const call = phase.calls[index] as Call;
    const failure = findCallFailure(state, call, refusals.get(index));
    return failure === undefined && decidePermit(state, call).outcome === "allow";
  });
  const shares = reserveShares(state, phase.calls, begins);
  let next = shares.state;
  let calls = phase.calls;
  for (let index = from; index < to; index++) {
    const call = calls[index] as Call;
    const failure = findCallFailure(next, call, refusals.get(index));
    const begun =
      failure === undefined
        ? beginCall(
            resetFailureCount(next, call.name),
            phase.position,
            call,
            index,
            shares.reservations.get(index),
          )
        : failCall(next, phase.position, call, index, failure);
    next = begun.state;
    calls = replaceCall(calls, index, begun.call);
  }
  const batch = buildBatch(next, phase.position, calls, { from, to });
  const given = dispatch(next);
  const { flush: _, ...rest } = phase;
  return continueCalls(given.state, { ...rest, dispatch: given.dispatch, calls, batch });
}

function buildBatch(
  { outbox }: State,
  position: number,
  calls: readonly Call[],
  { from, to }: Pick<CallBatch, "from" | "to">,
): CallBatch {
  const outboxCall = calls.findIndex(({ status }) => takesOutbox(status));
  return { from, to, outboxCall, base: findBasePosition(outbox, position + 1 + from) };
}

/**
 * Continues after a call has changed: with the next unit when no call is left. While only users or sub-agents are waited
 * for, it writes the outbox once.
 */
export function continueCalls(state: State, phase: CallingTools): State {
  const has = (type: CallStatus["type"]) => phase.calls.some(({ status }) => status.type === type);
  if (isFlushing(phase) || phase.calls.some(isShortRunning)) return { ...state, phase };
  if (!has("awaiting-user") && !has("running")) return endBatch({ ...state, phase }, phase);
  if (phase.flush === "tried" || isEmpty(state.outbox)) return { ...state, phase };
  const given = dispatch(state);
  return { ...given.state, phase: { ...phase, flush: given.dispatch } };
}

/** Reports whether the call is running and is not a sub-agent. */
function isShortRunning({ status }: Call): boolean {
  return status.type === "running" && status.child === undefined;
}

export function isFlushing({ flush }: CallingTools): boolean {
  return flush !== undefined && flush !== "tried";
}

/** Ends a batch: notifies hooks of the calls that have run, once for the unit, then emits their results (EVT-14). */
function endBatch(state: State, phase: CallingTools): State {
  const calls = phase.calls.flatMap(({ status }, index) => {
    const { awaitsHooks }: Marks = status;
    return awaitsHooks === true ? [index] : [];
  });
  return calls.length > 0
    ? askHooks(state, { point: "after-tool", phase, calls })
    : startNextBatch(state, phase);
}

export function completeAfterToolHooks(
  state: State,
  before: CallingTools,
  indices: readonly number[],
): State {
  const calls = indices.reduce((all, index) => {
    const call = all[index] as Call;
    const { awaitsHooks: _, ...status } = call.status as DoneStatus;
    return replaceCall(all, index, { ...call, status });
  }, before.calls);
  const phase = { ...before, calls };
  const notified = indices.reduce(
    (next, index) => emitMessageEvents(next, before.position + 1 + index),
    state,
  );
  return startNextBatch({ ...notified, phase }, phase);
}

/** Returns why no further unit begins: a stop, a call that has ended the loop, or steering. */
function findBarrier(state: State, phase: CallingTools): string | undefined {
  if (state.stop !== undefined) return CANCELLED_TEXT;
  if (findLoopEnding(phase) !== undefined) return LOOP_ENDED_TEXT;
  return phase.batch.to > 0 && state.queues.steering.length > 0 ? SKIPPED_TEXT : undefined;
}

function findBatchEnd(state: State, { calls, batch }: CallingTools): number {
  return Math.min(calls.length, batch.to + computeBatchSize(state, calls.length));
}

function computeBatchSize(state: State, calls: number): number {
  const strategy = requirePinned(state).toolStrategy;
  switch (strategy.type) {
    case "sequential":
      return 1;
    case "parallel":
      return calls;
    case "batched":
      return strategy.size;
  }
}

function refuseRemaining(state: State, phase: CallingTools, text: string): State {
  let next: State = state;
  let calls = phase.calls;
  for (const [index, call] of phase.calls.entries()) {
    if (call.status.type !== "pending") continue;
    next = answerCall(next, phase.position, call, index, text);
    calls = replaceCall(calls, index, { ...call, status: buildDoneStatus(call, text) });
  }
  return { ...next, phase: { ...phase, calls } };
}

/** Returns how the first of the calls that end the loop, in call order, ends it. */
function findLoopEnding({ calls }: CallingTools): OpenLoop["endedByCall"] {
  const endings = calls.flatMap(({ name, status }) => {
    const { endsLoop }: Marks = status;
    return endsLoop === undefined ? [] : [{ type: endsLoop.type, by: name, reason: endsLoop.reason }];
  });
  return endings[0];
}

/** Every call has its result: the results join the view in call order, and the turn ends. */
function finishCalls(state: State): State {
  const phase = state.phase as CallingTools;
  const { position, calls, viewRequests = [] } = phase;
  const endedByCall = findLoopEnding(phase);
  const noted = { ...state, loop: { ...requireLoop(state), ...omitUndefined({ endedByCall }) } };
  const tokens = calls.map(({ status }) => (status as DoneStatus).tokens);
  return {
    ...joinResults(applyPrunes(noted, position, viewRequests), position, tokens),
    phase: { type: "turn-ended", position, results: calls.length, reverts: getReverts(viewRequests) },
  };
}
