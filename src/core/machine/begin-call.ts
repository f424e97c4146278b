import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Allowance } from "../budget/account-state.ts";
import type { Reservation } from "../budget/reserve.ts";
import { decidePermit } from "./approvals.ts";
import { answerCall, buildDoneStatus, buildStartEvent } from "./call-results.ts";
import { formatRemovedTool, isRemovedTool } from "./definition-update.ts";
import { formatHookDenial } from "./denial-texts.ts";
import { emit } from "./outbox.ts";
import { requirePinned } from "./phase.ts";
import { type CallFailure, countFailure, markStuck } from "./repeated-failures.ts";
import { getRequestedTurns } from "./requested-turns.ts";
import type { Call, CallStatus } from "./state/call-status.ts";
import type { State } from "./state/state.ts";
import { formatNotAlone } from "./structured-output.ts";
import { getToolFacts } from "./tool-facts.ts";

// How one call begins: it runs, waits for the user, or fails at once.

export type HookDenial = { readonly hook: string; readonly reason: string };

/** Begins a call to which nothing objects: it runs, or waits for the user. */
export function beginCall(
  state: State,
  answer: number,
  call: Call,
  index: number,
  share: Reservation | undefined,
): { state: State; call: Call } {
  const { reason, ...permission } = decidePermit(state, call);
  return permission.outcome === "ask"
    ? { state, call: { ...call, permission, status: buildAskingStatus(state, reason) } }
    : runCall(state, answer, { ...call, permission }, index, share);
}

/** Returns why a call does not run: it is invalid, the policy denies it, or a hook denies it. */
export function findCallFailure(
  state: State,
  call: Call,
  refusal: HookDenial | undefined,
): FailedCall | undefined {
  const written = findRefusal(state, call);
  if (written !== undefined) return { text: written, reason: written, isMalformed: true };
  const { reason, ...permission } = decidePermit(state, call);
  const isDenied = permission.outcome === "deny";
  if (!isDenied && refusal === undefined) return undefined;
  const text =
    isDenied || refusal === undefined ? `Denied by the policy: ${reason}` : formatHookDenial(refusal);
  const reasonText = `${text} ${call.summary}`;
  return { text, reason: reasonText, isMalformed: false, ...(isDenied ? { permission } : {}) };
}

export type FailedCall = CallFailure & { readonly permission?: Call["permission"] };

/** Counts a failure. One that happens too often ends the loop after this turn, or waits for the user. */
export function failCall(
  state: State,
  answer: number,
  call: Call,
  index: number,
  { permission, ...failure }: FailedCall,
): { state: State; call: Call } {
  const counted = countFailure(state, call.name, failure);
  const { text, limit } = counted;
  if (limit?.action === "ask") {
    const status = {
      ...buildAskingStatus(state, `${limit.reason}. May the agent continue?`),
      failure: { text, reason: limit.reason },
    };
    const asked = { outcome: "ask" as const, rule: "repeated-failure" as const };
    return { state: counted.state, call: { ...call, permission: asked, status } };
  }
  const next = limit === undefined ? counted.state : markStuck(counted.state, limit.reason);
  const refused = permission === undefined ? call : { ...call, permission };
  const emitted = failure.isMalformed ? emit(next, buildStartEvent(call, answer)) : next;
  return refuseCall(emitted, answer, refused, index, text);
}

/** The call waits from now on, for as long as the definition allows. */
export function buildAskingStatus(
  state: State,
  reason: string,
): Extract<CallStatus, { type: "awaiting-user" }> {
  const { nowMs } = state;
  const timeoutMs = requirePinned(state).approvals?.timeoutMs ?? null;
  return {
    type: "awaiting-user",
    sinceMs: nowMs,
    untilMs: timeoutMs === null ? undefined : nowMs + timeoutMs,
    reason,
  };
}

/** @param share - For a sub-agent: its reservation, or why it has none. */
export function runCall(
  state: State,
  answer: number,
  call: Call,
  index: number,
  share: Reservation | undefined,
): { state: State; call: Call } {
  if (share?.type === "denied") return refuseCall(state, answer, call, index, share.reason);
  const isLocal = share === undefined && state.localSteps && getToolFacts(state, call.name)?.quick === true;
  const child = share === undefined ? undefined : buildChildStatus(state, call, share.allocation);
  const status = { ...buildRunningStatus(state), isLocal, ...omitUndefined({ child }) };
  return { state: emit(state, buildStartEvent(call, answer)), call: { ...call, status } };
}

function buildChildStatus(state: State, call: Call, allocation: Allowance): RunningStatus["child"] {
  const facts = getToolFacts(state, call.name)?.child;
  const maxTurns = facts === undefined ? undefined : getRequestedTurns(call, facts);
  return { allocation, ...omitUndefined({ maxTurns }) };
}

type RunningStatus = Extract<CallStatus, { type: "running" }>;

export function buildRunningStatus({ nowMs }: State): RunningStatus {
  return { type: "running", generation: 0, lostWorkers: 0, isLocal: false, startedAtMs: nowMs };
}

/** Reports whether the call is an activity of its own that carries the outbox. */
export function takesOutbox(status: CallStatus): boolean {
  return status.type === "running" && !status.isLocal && status.child === undefined;
}

export function refuseCall(
  state: State,
  answer: number,
  call: Call,
  index: number,
  text: string,
): { state: State; call: Call } {
  return {
    state: answerCall(state, answer, call, index, text),
    call: { ...call, status: buildDoneStatus(call, text) },
  };
}

/** Returns why a call is answered without being run. */
export function findRefusal(state: State, call: Call): string | undefined {
  if (call.isFinal === true) return formatNotAlone(call);
  if (getToolFacts(state, call.name) === undefined) {
    return isRemovedTool(state, call.name) ? formatRemovedTool(call.name) : `Tool ${call.name} not found`;
  }
  return call.invalidReason === undefined ? undefined : `Invalid arguments: ${call.invalidReason}`;
}

export function replaceCall(calls: readonly Call[], index: number, call: Call): readonly Call[] {
  return calls.map((before, at) => (at === index ? call : before));
}
