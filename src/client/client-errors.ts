import {
  isGrpcDeadlineError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import { ApplicationFailure, WorkflowNotFoundError } from "@temporalio/common";
import { MAX_WAITING_BYTES, MAX_WAITING_MESSAGES } from "../core/machine/queue-limits.ts";
import type { QueueSize } from "../core/machine/queue-size.ts";
import { KeyError } from "../platform/encryption/key-error.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import { StoreError } from "../store/transcript/store-error.ts";
import { ANSWER_TIMEOUT_MS, type ClientLink } from "./connection/client-link.ts";
import { GRPC, getGrpcCode } from "./connection/grpc-status.ts";
import { getErrorMessage, HoldfastError } from "./holdfast-error.ts";

/** The text that STEER-12 requires. A run uses the same one. */
export const BUSY_TEXT = "Agent is already streaming. Use steer() or follow_up().";

/** Failure types of the updates that a run rejects. */
const BUSY = "holdfast/busy";
const INVALID_MESSAGE = "holdfast/invalid-message";
const QUEUE_FULL = "holdfast/queue-full";
const NO_APPROVAL = "holdfast/no-approval";
const WHICH_APPROVAL = "holdfast/ambiguous-approval";
const INVALID_APPROVAL = "holdfast/invalid-approval";
const UPDATE_REJECTED = "holdfast/update-rejected";
const INVALID_LIMITS = "holdfast/invalid-limits";

/** Converts an error of the SDK to a `HoldfastError`. Returns a `HoldfastError` unchanged. */
export function toHoldfastError(error: unknown, link: ClientLink, session: string): HoldfastError {
  const { address, namespace, taskQueue } = link;
  if (error instanceof HoldfastError) return error;
  // A store reports a key that it lacks as the cause of its own error.
  const keyError = error instanceof StoreError ? error.cause : error;
  if (keyError instanceof KeyError) {
    return new HoldfastError(
      "key-missing",
      `Session ${session} cannot be read here: ${(error as Error).message}`,
      {
        session,
        cause: error,
      },
    );
  }
  if (error instanceof StoreError) {
    return new HoldfastError("store-failed", error.message, { session, cause: error });
  }
  if (error instanceof WorkflowExecutionAlreadyStartedError) return createBusyError(session, error);
  if (isRunNotFound(error)) return createUnknownSessionError(link, session, error);
  if (error instanceof WorkflowUpdateFailedError) return createUpdateRejectedError(error, session);
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error)) {
    return createNoWorkerError(link, session, error);
  }
  if (getGrpcCode(error) === GRPC.unavailable) {
    return new HoldfastError(
      "unreachable",
      `The Temporal server at ${address} stopped answering: ${getErrorMessage(error)}. ` +
        "Running agents are not lost; they continue when the server is back.",
      { address, cause: error },
    );
  }
  if (getGrpcCode(error) === GRPC.cancelled) {
    return new HoldfastError(
      "server-refused",
      `The request to the Temporal server at ${address} was cancelled before its answer: ${getErrorMessage(error)}`,
      { address, cause: error },
    );
  }
  return new HoldfastError(
    "server-refused",
    `The Temporal server at ${address} (namespace "${namespace}") rejected the request for session ${session}: ` +
      getErrorMessage(error),
    { address, namespace, taskQueue, session, cause: error },
  );
}

/** Tells whether no run with this id is open, or none ever existed. */
export function isRunNotFound(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || getGrpcCode(error) === GRPC.notFound;
}

/** Tells whether the run ended after it accepted an update and before it answered. */
export function hasRunEnded(error: unknown): boolean {
  if (isRunNotFound(error)) return true;
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === "AcceptedUpdateCompletedWorkflow";
}

export function createBusyError(session: string, cause?: unknown): HoldfastError {
  return new HoldfastError("session-busy", `Session ${session} is running. ${BUSY_TEXT}`, {
    session,
    ...omitUndefined({ cause }),
  });
}

export function createQueueFullError(
  session: string,
  { messages, bytes }: QueueSize,
  cause?: unknown,
): HoldfastError {
  const command = `holdfast status ${session}`;
  return new HoldfastError(
    "queue-full",
    `Session ${session} rejected the message: its queues are full. ${messages} messages with ${bytes} bytes are waiting, ` +
      `and at most ${MAX_WAITING_MESSAGES} messages with ${MAX_WAITING_BYTES} bytes may wait. Retry after the agent has read ` +
      `some of them (\`${command}\` displays how many are waiting), or empty the queues with session.queues.clear().`,
    {
      session,
      waiting: messages,
      maxWaiting: MAX_WAITING_MESSAGES,
      bytes,
      maxBytes: MAX_WAITING_BYTES,
      command,
      ...omitUndefined({ cause }),
    },
  );
}

/** The error for a full inbox. A session without a run stores its messages in the transcript. */
export function createInboxFullError(session: string, messages: number): HoldfastError {
  const command = `holdfast continue ${session}`;
  return new HoldfastError(
    "queue-full",
    `Session ${session} rejected the message: its inbox is full. No run is open, and ${messages} messages are waiting, of ` +
      `at most ${MAX_WAITING_MESSAGES}. The next run reads them: start one with \`${command}\`, then retry.`,
    { session, waiting: messages, maxWaiting: MAX_WAITING_MESSAGES, command },
  );
}

function readWaiting(cause: unknown): QueueSize {
  const details =
    cause instanceof ApplicationFailure ? (cause.details?.[0] as Partial<QueueSize>) : undefined;
  return { messages: details?.messages ?? 0, bytes: details?.bytes ?? 0 };
}

export function createUnknownSessionError(
  { address, namespace }: ClientLink,
  session: string,
  cause?: unknown,
): HoldfastError {
  return new HoldfastError(
    "session-unknown",
    `There is no session ${session} in namespace "${namespace}" at ${address}. List the sessions with \`holdfast list\`.`,
    { session, address, namespace, ...omitUndefined({ cause }) },
  );
}

export function createUnknownJobError(
  { address, namespace }: ClientLink,
  job: string,
  cause?: unknown,
): HoldfastError {
  return new HoldfastError(
    "session-unknown",
    `There is no job ${job} in namespace "${namespace}" at ${address}. ` +
      "List the jobs with `holdfast job list`.",
    { session: job, address, namespace, ...omitUndefined({ cause }) },
  );
}

export function createNoWorkerError(
  { taskQueue, namespace }: ClientLink,
  session: string,
  cause?: unknown,
): HoldfastError {
  return new HoldfastError(
    "no-worker",
    `No worker answered for session ${session} within ${ANSWER_TIMEOUT_MS / 1000} s (task queue "${taskQueue}", ` +
      `namespace "${namespace}"). Start one with \`holdfast worker\`, or run \`holdfast doctor\` to find the cause.`,
    { session, taskQueue, namespace, command: "holdfast worker", ...omitUndefined({ cause }) },
  );
}

function createUpdateRejectedError(error: WorkflowUpdateFailedError, session: string): HoldfastError {
  const { cause } = error;
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  if (type === BUSY) return createBusyError(session, error);
  if (type === QUEUE_FULL) return createQueueFullError(session, readWaiting(cause), error);
  const message = getErrorMessage(error);
  const facts = { session, cause: error };
  switch (type) {
    case INVALID_MESSAGE:
      return new HoldfastError("input-invalid", message, facts);
    case INVALID_LIMITS:
      return new HoldfastError("input-invalid", `Session ${session} rejected the limits: ${message}.`, facts);
    case UPDATE_REJECTED:
      return new HoldfastError("update-rejected", `Session ${session} retains its definition: ${message}.`, {
        ...facts,
        problems: [message],
      });
    case NO_APPROVAL:
      return createNothingPendingError(session, message, error);
    case WHICH_APPROVAL:
    case INVALID_APPROVAL:
      return new HoldfastError("input-invalid", `Session ${session} rejected the answer: ${message}.`, facts);
    default:
      return new HoldfastError("session-ended", `Session ${session} rejected the message: ${message}`, facts);
  }
}

/** The error for an answer to a session that has no run. */
export function createNoCallWhileIdleError(session: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    "approval-unknown",
    `Session ${session} rejected the answer: the session is idle, and none of its calls is pending. ` +
      `Run \`holdfast show ${session}\` to see the outcome.`,
    { session, command: `holdfast show ${session}`, cause },
  );
}

/** The error for new limits for a session that has no run. */
export function createNoLoopWhileIdleError(session: string, cause: unknown): HoldfastError {
  const command = `holdfast continue ${session}`;
  return new HoldfastError(
    "session-ended",
    `Session ${session} is idle; it has no running loop whose limits can be raised. ` +
      `Continue it with \`${command}\`, which accepts the same limits.`,
    { session, command, cause },
  );
}

export function createNothingPendingError(session: string, message: string, cause?: unknown): HoldfastError {
  const command = `holdfast status ${session}`;
  return new HoldfastError(
    "approval-unknown",
    `Session ${session} rejected the answer: ${message}. \`${command}\` lists the pending calls. ` +
      "The call may have been answered elsewhere, or its deadline may have passed.",
    { session, command, ...omitUndefined({ cause }) },
  );
}
