import { assertNever } from "../../platform/text/assert-never.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { Outcome } from "../../schema/record.ts";
import type { SandboxMode } from "../../schema/sandbox.ts";
import { type Budget, getLoopBudget } from "../budget/loop-budget.ts";
import { type Cost, sumCosts } from "../budget/usage.ts";
import { listPendingApprovals, type PendingApproval } from "./approvals.ts";
import { type ChildrenSummary, sumChildrenCost, summariseChildren } from "./children-summary.ts";
import { countContextTokens } from "./compact-view.ts";
import { getOutcomeCode } from "./outcome-code.ts";
import { measureQueues } from "./queue-size.ts";
import type { CallStatus } from "./state/call-status.ts";
import type { RejectedMessages } from "./state/inbound-message.ts";
import type { State } from "./state/state.ts";
import type { StatusCode } from "./status-code.ts";
import { formatVendorWait } from "./vendor-wait.ts";

/** The maximum size of a text in the status. */
const SHOWN_BYTES = 256;

/** A call that is running. */
export type RunningCall = {
  readonly toolCallId: string;
  /** The name of the tool. */
  readonly tool: string;
  /** What the call does, in short. */
  readonly summary: string;
  /** When it began, in Unix milliseconds. */
  readonly sinceMs: number;
  /** When its time limit ends it, in Unix milliseconds, if it has one (PHI-06), so that a host that wants to pause knows how long to wait. */
  readonly untilMs: number | undefined;
};

/** The status of a run, for users. */
export type RunStatus = {
  readonly session: string;
  readonly status: StatusCode;
  /** What the run is doing, as text. */
  readonly statusText: string;
  /** The name of the agent; of a job, those of its agents. */
  readonly agent: string | undefined;
  /** The id of the model; a job has none. */
  readonly model: string | undefined;
  /** The sandbox of the processes of its tools, where a tool states no other. Absent in a job. */
  readonly sandbox?: SandboxMode;
  /** The hash of the definition that it runs with. */
  readonly definitionHash: string | undefined;
  /** The hash of the definition to which it is updated before its next turn. */
  readonly pendingDefinitionHash: string | undefined;
  /** The rule set of the run; a job has none. */
  readonly ruleSet?: number;
  /** The beginning of the first prompt. */
  readonly goal: string;
  /** The session's title. Absent before its first loop, and where texts are redacted. */
  readonly title?: string;
  readonly loopId: string | undefined;
  /** Completed turns of the session's run. */
  readonly turns: number;
  /** Includes ended sub-agents. `null` when the price of any part is unknown. */
  readonly costUsd: Cost;
  /** The budget of the open loop and all its sub-agents. */
  readonly budget: Budget | undefined;
  /** Absent when there are and were no sub-agents. */
  readonly children: ChildrenSummary | undefined;
  /** The estimated tokens of the next request. */
  readonly contextTokens: number;
  /** What waits in the queues. */
  readonly queued: {
    /** The number of steering messages. */
    readonly steering: number;
    /** The number of follow-up messages. */
    readonly followUps: number;
    /** The size of both queues' messages. */
    readonly bytes?: number;
  };
  /** Messages for which the queues had no room. Absent for none. */
  readonly rejectedMessages?: RejectedMessages;
  /** The calls that wait for a user. */
  readonly approvals: readonly PendingApproval[];
  /** The calls that are running. */
  readonly running: readonly RunningCall[];
  /** The beginning of the newest text of the agent. */
  readonly lastText: string | undefined;
  readonly outcome: Outcome | undefined;
};

export function buildStatus(state: State): RunStatus {
  return {
    ...buildStatusAttributes(state),
    statusText: formatStatusText(state),
    ...omitUndefined({ sandbox: state.pinned?.sandbox }),
    definitionHash: state.pinned?.definitionHash,
    pendingDefinitionHash:
      state.phase.type === "updating-definition" ? state.phase.to : state.requestedUpdate?.hash,
    ruleSet: state.ruleSet,
    goal: state.goal,
    loopId: state.loop?.loopId ?? state.last?.loopId,
    budget: getLoopBudget(state),
    children: summariseChildren(state),
    contextTokens: countContextTokens(state),
    queued: {
      steering: state.queues.steering.length,
      followUps: state.queues.followUps.length,
      bytes: measureQueues(state.queues).bytes,
    },
    ...omitUndefined({ rejectedMessages: state.rejectedMessages }),
    approvals: listPendingApprovals(state),
    running: listRunningCalls(state),
    lastText: state.loop?.lastText?.preview ?? getLastText(state),
    outcome: state.last?.outcome,
  };
}

/** The part of the status by which a list of runs is filtered and sorted. */
export type StatusAttributes = Pick<
  RunStatus,
  "session" | "status" | "agent" | "model" | "turns" | "costUsd" | "title"
>;

/** Builds what changes of the status are noticed by, for a small part of the time that `buildStatus` takes. */
export function buildStatusAttributes(state: State): StatusAttributes {
  const { totals, loop } = state;
  return {
    session: state.session,
    status: getStatusCode(state),
    agent: state.pinned?.agentName,
    model: state.pinned?.model,
    turns: totals.turns + (loop?.turn ?? 0),
    costUsd: sumCosts([
      totals.costUsd,
      ...(loop === undefined ? [] : [loop.costUsd]),
      sumChildrenCost(state),
    ]),
    ...omitUndefined({ title: state.title?.text }),
  };
}

function listRunningCalls({ phase, pinned }: State): readonly RunningCall[] {
  if (phase.type !== "calling-tools") return [];
  return phase.calls.flatMap(({ id, name, summary, status }) => {
    if (status.type !== "running") return [];
    const timeoutMs = pinned?.tools[name]?.timeoutMs;
    const untilMs = timeoutMs === undefined ? undefined : status.startedAtMs + timeoutMs;
    return [{ toolCallId: id, tool: name, summary, sinceMs: status.startedAtMs, untilMs }];
  });
}

function getLastText({ last, redactContent }: State): string | undefined {
  return last?.text === undefined || redactContent === true
    ? undefined
    : redactPreview(last.text, SHOWN_BYTES);
}

export function getStatusCode(state: State): StatusCode {
  if (state.phase.type === "ended") return getRunCode(state.last?.outcome);
  if (state.stop !== undefined) return "stopping";
  if (listPendingApprovals(state).length > 0) return "needs-approval";
  return state.phase.type === "waiting" ? "waiting" : "running";
}

/** Returns how a run ended. As a part of other work, one that paused or handed over counts as stopped. */
function getRunCode(outcome: Outcome | undefined): StatusCode {
  return outcome?.type === "paused" || outcome?.type === "handoff" ? outcome.type : getOutcomeCode(outcome);
}

/**
 * Formats the current step for a user.
 *
 * @testonly
 */
export function formatStatusText(state: State): string {
  const { phase } = state;
  switch (phase.type) {
    case "starting":
    case "opening":
      return "opening the loop";
    case "calling-model":
      return phase.vendorWait === undefined
        ? `calling the model (turn ${state.loop?.turn ?? 0})`
        : formatVendorWait(phase.vendorWait, state);
    case "filtering":
      return "running the input filters";
    case "compacting":
      return "compacting the context";
    case "calling-tools": {
      const named = (type: CallStatus["type"]) =>
        phase.calls
          .filter(({ status }) => status.type === type)
          .map(({ name, summary }) => (summary === "" ? name : `${name}: ${summary}`))
          .join(", ");
      const [running, asking] = [named("running"), named("awaiting-user")];
      const parts = [
        ...(running === "" ? [] : [`running ${running}`]),
        ...(asking === "" ? [] : [`waiting for approval of ${asking}`]),
      ];
      return parts.length === 0 ? "recording the results" : parts.join("; ");
    }
    case "running-hooks":
      return `asking hooks (${phase.question.point})`;
    case "updating-definition":
      return "updating the definition";
    case "titling":
      return "asking for a title";
    case "closing":
      return "closing the loop";
    case "recording":
      return "recording the remaining events";
    case "waiting":
      return "waiting for a prompt";
    case "rotating":
      return "continuing as a new run";
    case "ended":
      return "nothing: the run has ended";
    case "turn-pending":
    case "turn-ended":
    case "loop-ended":
      return "deciding the next step";
    default:
      return assertNever(phase);
  }
}
