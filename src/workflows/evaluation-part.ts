import {
  ApplicationFailure,
  ChildWorkflowFailure,
  WorkflowExecutionAlreadyStartedError,
} from "@temporalio/common";
import { CancelledFailure, startChild, uuid4 } from "@temporalio/workflow";
import type { Allowance } from "../core/budget/amounts.ts";
import type { EvaluationOpenedDigest, OpenedAgent, PartEnd } from "../core/evaluation/digest.ts";
import { partStatus, shortStatus } from "../core/evaluation/progress.ts";
import type { TaskReport } from "../core/machine/task.ts";
import type { Continuation } from "../schema/definition.ts";
import { WORKFLOW_TASK_TIMEOUT } from "./activity-options.ts";
import { GIVEN_UP, giveUpIfDeaf } from "./give-up.ts";
import type { RunSettings, StartRequest } from "./input.ts";
import { AGENT_WORKFLOW } from "./messages.ts";
import { RUN_FAILED, type RunResult } from "./result.ts";

/** One loop of an evaluation: a branch, or the judge. */
export type Part = {
  /** "branch-1", "judge". */
  readonly name: string;
  readonly agent: OpenedAgent;
  readonly at: EvaluationOpenedDigest["at"];
  /** The stored text that it is asked; absent: it goes on with what is there. */
  readonly prompt: string | undefined;
  readonly share: Allowance;
  readonly explores?: true;
};

export type EndedPart = { readonly end: PartEnd; readonly report: TaskReport | undefined };

/** Made in the run, so that a run that was reset has others. */
export function partWorkflow(session: string, name: string): string {
  return `${session}.${name}-${uuid4().slice(0, 8)}`;
}

/**
 * The run of one part, from its beginning to its report. Cancelling the scope stops it, and waits for its end; one that
 * does not end is terminated.
 */
export function performPart(
  workflow: string,
  session: string,
  { name, agent, at, prompt, share, explores }: Part,
  { evaluation, parentLoopId }: EvaluationOpenedDigest,
  settings: RunSettings,
): Promise<EndedPart> {
  const { definitionHash, number, loopId } = agent;
  const parent = parentLoopId === undefined ? {} : { parentLoopId };
  const request: StartRequest = {
    definitionHash,
    settings,
    share,
    within: { session, evaluation, number, at, ...parent },
    ...(prompt === undefined || explores === true ? { continuation: { kind: kindOf(explores), at } } : {}),
    // Every loop has a message of its own: ids are unique in a session.
    ...(prompt === undefined ? {} : { prompt: { id: `${evaluation}.${number}`, ref: prompt } }),
  };
  const started = startChild(AGENT_WORKFLOW, {
    workflowId: workflow,
    args: [request],
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    staticSummary: `${name} · ${agent.agentName} · ${agent.model}`,
    // An evaluation that is terminated has its parts stopped, and they close their records.
    parentClosePolicy: "REQUEST_CANCEL",
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
  });
  const result = started.then((handle) => handle.result() as Promise<RunResult>);
  const givenUp = giveUpIfDeaf(workflow, result);
  return result.then(
    (told) => ended(loopId, told),
    (error) => failed(loopId, error, givenUp()),
  );
}

function kindOf(explores: true | undefined): Continuation["kind"] {
  return explores === true ? { type: "branch", tag: new Date().toISOString() } : { type: "default" };
}

function ended(loopId: string, { outcome, report }: RunResult): EndedPart {
  const end = { loopId: report?.loopId ?? loopId, status: partStatus(outcome) };
  return { end, report };
}

/** A run that failed reports all the same; of one that is gone, the record is asked. */
function failed(
  loopId: string,
  error: unknown,
  givenUp: Promise<void> | undefined,
): EndedPart | Promise<EndedPart> {
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    return lost(loopId, "failed", "There is a run of its name already");
  }
  if (error instanceof CancelledFailure) return lost(loopId, "stopped", "It was stopped before it began");
  if (!(error instanceof ChildWorkflowFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.type === RUN_FAILED) {
    const [result] = (cause.details ?? []) as readonly (RunResult | undefined)[];
    if (result !== undefined) return ended(loopId, result);
  }
  if (givenUp !== undefined) return givenUp.then(() => lost(loopId, "stopped", GIVEN_UP));
  const said = cause?.message ?? error.message;
  return lost(loopId, "stopped", `It was ended from outside: ${said}`);
}

function lost(loopId: string, type: "failed" | "stopped", reason: string): EndedPart {
  return { end: { loopId, status: shortStatus({ type, reason }) }, report: undefined };
}
