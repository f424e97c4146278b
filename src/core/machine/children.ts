import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Outcome } from "../../schema/record.ts";
import { NO_AMOUNTS } from "../budget/amounts.ts";
import { estimateText } from "../view/estimate.ts";
import { appendAtPosition, estimateBody } from "./append-message.ts";
import { replaceCall } from "./begin-call.ts";
import { emitEndEvents } from "./call-results.ts";
import { addLoopAmounts, settleShare } from "./child-shares.ts";
import { addEndedChild } from "./children-summary.ts";
import { completeCall, getRunningCall } from "./finished-calls.ts";
import { NO_TEXT } from "./outbox.ts";
import type { CallToolCommand } from "./state/activity-command.ts";
import type { Call, CallingTools } from "./state/call-status.ts";
import type { ToolFacts } from "./state/digest.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { OutboxBody } from "./state/outbox.ts";
import type { State } from "./state/state.ts";
import type { TaskReport } from "./state/task.ts";
import { addWaitedTime } from "./time-waited.ts";

// Calls whose tool is an agent. Each is a run of its own, which spends from what this run has left (design 3.9).

type RunningStatus = Extract<Call["status"], { type: "running" }>;

export function hasChild({ calls }: CallingTools): boolean {
  return calls.some(({ status }) => status.type === "running" && status.child !== undefined);
}

/** Returns the part of a call's command that makes it a run of its own. */
export function getChildCommand(
  { name, status }: Call,
  tools: Readonly<Record<string, ToolFacts>>,
): Pick<CallToolCommand, "child"> {
  const facts = tools[name]?.child;
  if (status.type !== "running" || status.child === undefined || facts === undefined) return {};
  return { child: { definitionHash: facts.definitionHash, ...status.child } };
}

export function markChildStarted(state: State, phase: CallingTools, index: number, session: string): State {
  const call = getRunningCall(phase, index);
  const status = call?.status as RunningStatus | undefined;
  if (call === undefined || status?.child === undefined) return state;
  const known: Call = { ...call, status: { ...status, child: { ...status.child, session } } };
  return { ...state, phase: { ...phase, calls: replaceCall(phase.calls, index, known) } };
}

export function finishChild(state: State, phase: CallingTools, index: number, report: TaskReport): State {
  return answerWithReport(state, phase, index, report, ...describeOutcome(report.outcome));
}

/** Fails a sub-agent that was terminated, timed out or never began. Its record shows what it has cost. */
export function failChild(
  state: State,
  phase: CallingTools,
  index: number,
  reason: string,
  report: TaskReport | undefined,
): State {
  return answerWithReport(
    state,
    phase,
    index,
    report,
    `The sub-agent ended without a result: ${reason}`,
    true,
  );
}

function answerWithReport(
  state: State,
  phase: CallingTools,
  index: number,
  report: TaskReport | undefined,
  text: string,
  isError: boolean,
): State {
  const call = getRunningCall(phase, index);
  if (call === undefined) return state;
  const body: Extract<OutboxBody, { type: "report" }> = {
    type: "report",
    toolCallId: call.id,
    toolName: call.name,
    isError,
    text,
    ...(report?.position === undefined
      ? {}
      : { from: { session: report.session, branch: report.branch, position: report.position } }),
    messages: report?.messages ?? 0,
    ...omitUndefined({ childLoopId: report?.loopId }),
  };
  const waited = addWaitedTime(state, getChildWaitMs(state, phase, report));
  const settled = settleShare(waited, index, report?.used ?? NO_AMOUNTS);
  const placed = appendAtPosition(settled, phase.position + 1 + index, "tool", body);
  const ended = emitEndEvents(placed, phase.position, call, index, isError, report?.loopId);
  const tokens =
    estimateBody(body) + (body.from === undefined ? estimateText(NO_TEXT) : (report?.tokens ?? 0));
  const { status, name, summary } = call;
  const session = status.type === "running" ? status.child?.session : undefined;
  const task = { session: session ?? report?.session ?? "", agent: name, task: summary };
  return completeCall(addEndedChild(ended, task, report?.outcome), phase, index, {
    type: "done",
    isError,
    tokens,
  });
}

/** Returns how long the call waited for a user. While a lone sub-agent waits for one, its caller only waits for that. */
function getChildWaitMs({ pinned }: State, { batch }: CallingTools, report: TaskReport | undefined): number {
  const counts = pinned?.approvals?.countsAsDuration === true;
  return counts || batch.to - batch.from > 1 ? 0 : (report?.waitedMs ?? 0);
}

/** Returns the text that follows the sub-agent's own text, and whether the model must treat it as an error. */
function describeOutcome(outcome: Outcome): [text: string, isError: boolean] {
  switch (outcome.type) {
    case "answered":
    case "delivered":
      return ["", false];
    case "limit-reached":
      return [`[Sub-agent stopped: ${outcome.reason}]`, false];
    case "failed":
      return [`The sub-agent failed: ${outcome.fault}: ${outcome.message}`, true];
    case "stopped":
      return [`The sub-agent was stopped: ${outcome.reason}`, true];
    case "rejected":
      return [`The task was rejected: ${outcome.reason}`, true];
    case "ended":
      return [`The sub-agent was ended by hook "${outcome.by}": ${outcome.reason}`, true];
    case "paused":
      return [`The sub-agent has paused its work: ${outcome.reason}`, true];
    case "handoff":
      return [`The sub-agent has handed its task over to a person: ${outcome.reason}`, true];
  }
}

// The other side: a run that works for a call.

/** Adds a sub-agent's loop to the totals that its run reports in the end. */
export function addTaskTotals(state: State, loop: OpenLoop): Partial<State["totals"]> {
  const { totals, length } = state;
  const waitedMs = (totals.waitedMs ?? 0) + (loop.waitedMs ?? 0);
  return {
    used: addLoopAmounts(state, loop),
    messages: (totals.messages ?? 0) + length - loop.from,
    ...(waitedMs === 0 ? {} : { waitedMs }),
  };
}

export function buildReport({ session, branch, last, totals, nextRound }: State): TaskReport {
  const { messages = 0, used = NO_AMOUNTS, waitedMs } = totals;
  return {
    session,
    outcome: last?.outcome ?? { type: "delivered", messages: 0 },
    branch,
    ...omitUndefined({ loopId: last?.loopId }),
    ...(last?.lastAnswer === undefined ? {} : { position: last.lastAnswer.position }),
    tokens: last?.lastAnswer?.tokens ?? 0,
    messages,
    used,
    ...omitUndefined({ waitedMs, nextRound }),
  };
}
