import { ApplicationFailure, ChildWorkflowFailure } from "@temporalio/common";
import {
  CancellationScope,
  CancelledFailure,
  getExternalWorkflowHandle,
  scheduleLocalActivity,
  startChild,
  uuid4,
} from "@temporalio/workflow";
import type {
  PrepareAgentInput,
  PreparedAgent,
  StoredMessage,
  StoreMessageInput,
} from "../activities/activity-types.ts";
import { PREPARE_AGENT, STORE_MESSAGE } from "../core/machine/activity-names.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { AgentDefinitionInput } from "../schema/definition.ts";
import { buildStoreOptions, WORKFLOW_TASK_TIMEOUT } from "./activity-options.ts";
import { AGENT_WORKFLOW, followUpSignal, type MessageInput, steerSignal, stopSignal } from "./messages.ts";
import type { StartRequest } from "./run-input.ts";
import { RUN_FAILED, type RunResult } from "./run-result.ts";

// Agents in workflows of applications: an agent is a child workflow.
//
// Invariants
//   I1. Prompts, messages and definitions reach the agent by their hashes. The texts are inputs of local activities, which
//       Temporal does not store.
//   I2. Messages of one handle arrive in the order of their calls.
//   I3. Cancelling the scope in which an agent was started stops the agent.

/** An agent to start in a workflow. */
export type StartAgentOptions = {
  /** The name of an agent in `agents` of `holdfastPlugin()`, or a definition. */
  readonly agent: string | AgentDefinitionInput;
  /** The first message of the user. */
  readonly prompt: string;
  /**
   * Continues this session, which must be idle. By default the agent has a session of its own, whose id the workflow
   * creates and replay repeats.
   */
  readonly session?: string;
  /** The queue of the workers that run the agent, which must use the same store; by default the workflow's own queue. */
  readonly taskQueue?: string;
  /**
   * What happens to the agent when the workflow ends before it. `REQUEST_CANCEL`, the default, stops the agent and
   * closes its record.
   */
  readonly parentClosePolicy?: "REQUEST_CANCEL" | "ABANDON";
  /** What the Temporal UI displays for the agent's run; by default the agent's name. */
  readonly summary?: string;
};

/**
 * The result of an agent's run. Its text is at most 32 KiB; the session contains the whole text.
 *
 * `output`: the structured output that the definition requires. Absent when it is longer than a result may be (`json` is
 * then `"truncated"`), or when the agent ended without one.
 */
export type AgentResult<Output = unknown> = RunResult & { readonly output?: Output };

/** Messages for an agent's run. */
export type AgentMessages = {
  readonly session: string;
  /** Queues a message that the agent reads before its next answer. */
  steer(text: string): Promise<void>;
  /** Queues a message that is delivered when the agent would otherwise stop. */
  followUp(text: string): Promise<void>;
  /** Ends the run: cancels the model call and the tools. The result's outcome is then `stopped`. */
  stop(reason?: string): Promise<void>;
};

/** An agent that a workflow has started. */
export type AgentHandle<Output = unknown> = AgentMessages & {
  /** The first run of the session that this handle belongs to. */
  readonly runId: string;
  /**
   * Waits for the agent's end. Rejects with Temporal's `ChildWorkflowFailure` when the run fails, and with
   * `CancelledFailure` when the workflow cancels the agent. Any other outcome, such as a reached limit, is a result.
   */
  result(): Promise<AgentResult<Output>>;
  /** Waits as `result` does, but returns the outcome of a failed run too. */
  tryResult(): Promise<AgentResult<Output>>;
};

/**
 * Starts an agent as a child workflow, and resolves when it has started.
 *
 * The worker needs `holdfastPlugin()`. Neither the prompt nor the definition gets into the history.
 */
export async function startAgent<Output = unknown>(options: StartAgentOptions): Promise<AgentHandle<Output>> {
  const {
    agent,
    prompt,
    session = uuid4(),
    parentClosePolicy = "REQUEST_CANCEL",
    taskQueue,
    summary,
  } = options;
  const messageId = uuid4();
  const scope = CancellationScope.current();
  const input: PrepareAgentInput = { agent, prompt };
  const label = typeof agent === "string" ? agent : (agent.name ?? "an agent");
  const prepared = await storeInTranscript<PreparedAgent>(PREPARE_AGENT, input, label);
  const request: StartRequest = {
    definitionHash: prepared.definitionHash,
    prompt: { id: messageId, ref: prepared.prompt },
    settings: prepared.settings,
  };
  const child = await startChild(AGENT_WORKFLOW, {
    workflowId: session,
    args: [request],
    staticSummary: summary ?? prepared.agentName,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    workflowIdReusePolicy: "ALLOW_DUPLICATE",
    parentClosePolicy,
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
    ...omitUndefined({ taskQueue }),
  });
  const ended = child.result() as Promise<RunResult>;
  // A failure that nobody waits for must not fail the workflow.
  ended.catch(() => undefined);
  return {
    ...createMessages(session, child),
    runId: child.firstExecutionRunId,
    result: () => ended.then((result) => toAgentResult<Output>(result, scope)),
    tryResult: () => ended.catch(getFailedResult).then((result) => toAgentResult<Output>(result, scope)),
  };
}

/** Starts an agent as `startAgent` does, and waits for its result. */
export async function executeAgent<Output = unknown>(
  options: StartAgentOptions,
): Promise<AgentResult<Output>> {
  const started = await startAgent<Output>(options);
  return await started.result();
}

/** Returns a handle to send messages to an agent that another workflow or a client has started. */
export function getAgentHandle(session: string): AgentMessages {
  return createMessages(session, getExternalWorkflowHandle(session));
}

type Signals = Pick<ReturnType<typeof getExternalWorkflowHandle>, "signal">;

function createMessages(session: string, run: Signals): AgentMessages {
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = (send: () => Promise<void>): Promise<void> => {
    const sent = last.then(send);
    last = sent.catch(() => undefined);
    return sent;
  };
  const sendText = (signal: typeof steerSignal, text: string): Promise<void> => {
    const id = uuid4();
    const input: StoreMessageInput = { text };
    return inOrder(async () => {
      const stored = await storeInTranscript<StoredMessage>(STORE_MESSAGE, input, "a message for an agent");
      const message: MessageInput = { id, ...stored };
      await run.signal(signal, message);
    });
  };
  return {
    session,
    steer: (text) => sendText(steerSignal, text),
    followUp: (text) => sendText(followUpSignal, text),
    stop: (reason) =>
      inOrder(() => (reason === undefined ? run.signal(stopSignal) : run.signal(stopSignal, reason))),
  };
}

function storeInTranscript<Stored>(activity: string, input: object, summary: string): Promise<Stored> {
  return scheduleLocalActivity<Stored>(activity, [input], buildStoreOptions(summary));
}

function getFailedResult(error: unknown): RunResult {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : undefined;
  const [result] =
    cause instanceof ApplicationFailure && cause.type === RUN_FAILED ? (cause.details ?? []) : [];
  if (result === undefined) throw error;
  return result as RunResult;
}

/** A stop that follows from a cancellation of the workflow is a cancellation for its code, as with any child. */
function toAgentResult<Output>(result: RunResult, scope: CancellationScope): AgentResult<Output> {
  if (result.outcome.type === "stopped" && scope.consideredCancelled) {
    throw new CancelledFailure(`The agent of session ${result.session} was cancelled`);
  }
  return result.json === "complete"
    ? { ...result, output: JSON.parse(result.text ?? "null") as Output }
    : result;
}
