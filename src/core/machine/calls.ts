import type { Reservation } from "../budget/reserve.ts";
import { messageEvents } from "./append.ts";
import { permitFor } from "./approvals.ts";
import { answerCall, doneWith, joinResults, startEvent } from "./call-results.ts";
import { askHooks, hasHook } from "./hooking.ts";
import { issue } from "./issue.ts";
import { removedText, wasRemoved } from "./moving.ts";
import { baseOf, emit, isEmpty } from "./outbox.ts";
import { pinnedOf } from "./phase.ts";
import { applyPrunes, revertsOf } from "./pruning.ts";
import { type CallFailure, countFailure, countGood, markStuck } from "./repeated-mistakes.ts";
import { reserveShares } from "./shares.ts";
import type { Call, Calling, CallStatus } from "./state/calling.ts";
import type { CallDigest } from "./state/digest.ts";
import type { State } from "./state/state.ts";
import { refusedBeside } from "./structured.ts";
import { toolFactsOf } from "./tool-facts.ts";

// The calls of one answer, unit by unit: one call, a batch, or all of them, by strategy (TOOL-07). Results stand
// behind the answer in call order, whichever ends first (TOOL-08).

/** STEER-05, X-06. */
const SKIPPED_TEXT = "Skipped due to queued user message.";
export const CANCELLED_TEXT = "Cancelled";
/** GAP-05, PHI-13m. */
export const CUT_OFF_TEXT =
  "Not run: the answer was cut off by the output limit before its calls were complete. Ask again, in smaller pieces.";

/** @param cutOff - The answer ended at the output limit: no call of it can be trusted, none is run. */
export function startCalls(
  state: State,
  position: number,
  calls: readonly CallDigest[],
  cutOff: boolean,
): State {
  const pending = calls.map((call) => ({ ...call, status: { type: "pending" } as CallStatus }));
  const given = issue(state);
  const phase: Calling = {
    type: "calling-tools",
    issue: given.issue,
    position,
    calls: pending,
    unit: { from: 0, to: 0, carrier: -1, base: position + 1 },
  };
  const started = { ...given.state, phase };
  return cutOff ? finishCalls(refuseRest(started, phase, CUT_OFF_TEXT)) : nextUnit(started, phase);
}

/** Starts the next unit; or refuses what is left, when a person wants a word first or wants no more. */
function nextUnit(state: State, phase: Calling): State {
  const from = phase.unit.to;
  if (from >= phase.calls.length) return finishCalls(state);
  const barred = barredBy(state, phase);
  if (barred !== undefined) return finishCalls(refuseRest(state, phase, barred));
  const asked = hasHook(state, "before-tool") ? mayRun(state, phase) : [];
  return asked.length > 0
    ? askHooks(state, { point: "before-tool", calling: phase, calls: asked })
    : startUnit(state, phase, new Map());
}

type Refusal = { readonly hook: string; readonly reason: string };

/** Hooks have been asked about the next unit; behind a stop or steering it does not begin all the same. */
export function toolsJudged(state: State, phase: Calling, refusals: ReadonlyMap<number, Refusal>): State {
  const back = { ...state, phase };
  const barred = barredBy(back, phase);
  return barred === undefined
    ? startUnit(back, phase, refusals)
    : finishCalls(refuseRest(back, phase, barred));
}

/** Calls of the next unit that the policy lets run, or lets a person decide on. */
function mayRun(state: State, phase: Calling): readonly number[] {
  const indices = phase.calls.keys();
  return [...indices].slice(phase.unit.to, unitEnd(state, phase)).filter((index) => {
    const call = phase.calls[index] as Call;
    return refusalOf(state, call) === undefined && permitFor(state, call).outcome !== "deny";
  });
}

function startUnit(state: State, phase: Calling, refusals: ReadonlyMap<number, Refusal>): State {
  const from = phase.unit.to;
  const to = unitEnd(state, phase);
  const begins = [...phase.calls.keys()].slice(from, to).filter((index) => {
    const call = phase.calls[index] as Call;
    const isRefused = refusals.has(index) || refusalOf(state, call) !== undefined;
    return !isRefused && permitFor(state, call).outcome === "allow";
  });
  const shares = reserveShares(state, phase.calls, begins);
  let next = shares.state;
  let calls = phase.calls;
  for (let index = from; index < to; index++) {
    const call = calls[index] as Call;
    const failure = failureOf(next, call, refusals.get(index));
    const begun =
      failure === undefined
        ? begin(countGood(next, call.name), phase.position, call, index, shares.of.get(index))
        : fail(next, phase.position, call, index, failure);
    next = begun.state;
    calls = withCall(calls, index, begun.call);
  }
  const carrier = calls.findIndex(({ status }) => carries(status));
  const base = baseOf(next.outbox, phase.position + 1 + from);
  const given = issue(next);
  const { flush: _, ...rest } = phase;
  return goOnWith(given.state, { ...rest, issue: given.issue, calls, unit: { from, to, carrier, base } });
}

/** A call that nothing speaks against: it runs, or waits for a person. */
function begin(
  state: State,
  answer: number,
  call: Call,
  index: number,
  share: Reservation | undefined,
): { state: State; call: Call } {
  const { reason, ...permission } = permitFor(state, call);
  return permission.outcome === "ask"
    ? { state, call: { ...call, permission, status: asking(state, reason) } }
    : run(state, answer, { ...call, permission }, index, share);
}

/** Why a call is not run: it cannot be, as it is written; the policy denies it; or a hook refuses it. */
function failureOf(state: State, call: Call, refusal: Refusal | undefined): Failed | undefined {
  const written = refusalOf(state, call);
  if (written !== undefined) return { text: written, why: written, written: true };
  const { reason, ...permission } = permitFor(state, call);
  const isDenied = permission.outcome === "deny";
  if (!isDenied && refusal === undefined) return undefined;
  const text =
    isDenied || refusal === undefined
      ? `Refused: ${reason}`
      : `Refused by hook "${refusal.hook}": ${refusal.reason}`;
  const why = `${text} ${call.summary}`;
  return { text, why, written: false, ...(isDenied ? { permission } : {}) };
}

type Failed = CallFailure & { readonly permission?: Call["permission"] };

/** The failure is counted. One that came too often ends the loop after this turn, or waits for a person. */
function fail(
  state: State,
  answer: number,
  call: Call,
  index: number,
  { permission, ...failure }: Failed,
): { state: State; call: Call } {
  const counted = countFailure(state, call.name, failure);
  const { text, limit } = counted;
  if (limit?.action === "ask") {
    const status = {
      ...asking(state, `${limit.reason}. May the agent go on?`),
      failed: { text, reason: limit.reason },
    };
    const asked = { outcome: "ask" as const, rule: "repeated-failure" as const };
    return { state: counted.state, call: { ...call, permission: asked, status } };
  }
  const next = limit === undefined ? counted.state : markStuck(counted.state, limit.reason);
  const refused = permission === undefined ? call : { ...call, permission };
  const said = failure.written ? emit(next, startEvent(call, answer)) : next;
  return refuse(said, answer, refused, index, text);
}

/** From now on, for as long as the definition says. */
export function asking(state: State, reason: string): Extract<CallStatus, { type: "asking" }> {
  const { nowMs } = state;
  const timeoutMs = pinnedOf(state).approvals?.timeoutMs ?? null;
  return {
    type: "asking",
    sinceMs: nowMs,
    untilMs: timeoutMs === null ? undefined : nowMs + timeoutMs,
    reason,
  };
}

/** @param share - Of a sub-agent: what was set aside for it, or why nothing was. */
export function run(
  state: State,
  answer: number,
  call: Call,
  index: number,
  share: Reservation | undefined,
): { state: State; call: Call } {
  if (share?.type === "refused") return refuse(state, answer, call, index, share.reason);
  const local = share === undefined && state.localSteps && toolFactsOf(state, call.name)?.quick === true;
  const child = share === undefined ? {} : { child: { given: share.given } };
  const status = { ...runFromNow(state), local, ...child };
  return { state: emit(state, startEvent(call, answer)), call: { ...call, status } };
}

export function runFromNow({ nowMs }: State): Extract<CallStatus, { type: "running" }> {
  return { type: "running", generation: 0, lost: 0, local: false, startedAtMs: nowMs };
}

/** An activity of its own: it takes the outbox along. */
export function carries(status: CallStatus): boolean {
  return status.type === "running" && !status.local && status.child === undefined;
}

export function refuse(
  state: State,
  answer: number,
  call: Call,
  index: number,
  text: string,
): { state: State; call: Call } {
  return {
    state: answerCall(state, answer, call, index, text),
    call: { ...call, status: doneWith(call, text) },
  };
}

/**
 * What comes when a call has moved: the next unit when none is left; and while only people, or sub-agents, are waited
 * for, the outbox is written down, once.
 */
export function goOnWith(state: State, phase: Calling): State {
  const has = (type: CallStatus["type"]) => phase.calls.some(({ status }) => status.type === type);
  if (isFlushing(phase) || phase.calls.some(isBrief)) return { ...state, phase };
  if (!has("asking") && !has("running")) return unitOver({ ...state, phase }, phase);
  if (phase.flush === "tried" || isEmpty(state.outbox)) return { ...state, phase };
  const given = issue(state);
  return { ...given.state, phase: { ...phase, flush: given.issue } };
}

/** At work, and no sub-agent. */
function isBrief({ status }: Call): boolean {
  return status.type === "running" && status.child === undefined;
}

export function isFlushing({ flush }: Calling): boolean {
  return flush !== undefined && flush !== "tried";
}

/** Hooks are told of the calls that have run, once for the unit; then the events of their results come (EVT-14). */
function unitOver(state: State, phase: Calling): State {
  const calls = phase.calls.flatMap(({ status }, index) =>
    status.type === "done" && status.untold === true ? [index] : [],
  );
  return calls.length > 0
    ? askHooks(state, { point: "after-tool", calling: phase, calls })
    : nextUnit(state, phase);
}

export function toolsTold(state: State, before: Calling, told: readonly number[]): State {
  const calls = before.calls.map((call, index) => {
    if (call.status.type !== "done" || !told.includes(index)) return call;
    const { untold: _, ...status } = call.status;
    return { ...call, status };
  });
  const phase = { ...before, calls };
  const said = told.reduce((next, index) => messageEvents(next, before.position + 1 + index), state);
  return nextUnit({ ...said, phase }, phase);
}

/** Why no further unit begins: a person wants no more, or a word first. */
function barredBy(state: State, phase: Calling): string | undefined {
  if (state.stop !== undefined) return CANCELLED_TEXT;
  return phase.unit.to > 0 && state.queues.steering.length > 0 ? SKIPPED_TEXT : undefined;
}

function unitEnd(state: State, { calls, unit }: Calling): number {
  return Math.min(calls.length, unit.to + unitSize(state, calls.length));
}

function unitSize(state: State, calls: number): number {
  const strategy = pinnedOf(state).toolStrategy;
  switch (strategy.type) {
    case "sequential":
      return 1;
    case "parallel":
      return calls;
    case "batched":
      return strategy.size;
  }
}

/** Why a call is answered without being run. */
function refusalOf(state: State, call: Call): string | undefined {
  if (call.final === true) return refusedBeside(call);
  if (toolFactsOf(state, call.name) === undefined) {
    return wasRemoved(state, call.name) ? removedText(call.name) : `Tool ${call.name} not found`;
  }
  return call.invalid === undefined ? undefined : `Invalid arguments: ${call.invalid}`;
}

function refuseRest(state: State, phase: Calling, text: string): State {
  let next: State = state;
  let calls = phase.calls;
  for (const [index, call] of phase.calls.entries()) {
    if (call.status.type !== "pending") continue;
    next = answerCall(next, phase.position, call, index, text);
    calls = withCall(calls, index, { ...call, status: doneWith(call, text) });
  }
  return { ...next, phase: { ...phase, calls } };
}

export function withCall(calls: readonly Call[], index: number, call: Call): readonly Call[] {
  return calls.map((before, at) => (at === index ? call : before));
}

/** Every call has its result: they join the view in call order, and the turn ends. */
function finishCalls(state: State): State {
  const { position, calls, requests = [] } = state.phase as Calling;
  const over = joinResults(applyPrunes(state, position, requests), position, calls);
  const reverts = revertsOf(requests);
  return reverts.length === 0
    ? over
    : { ...over, phase: { ...(over.phase as Extract<State["phase"], { type: "turn-over" }>), reverts } };
}
