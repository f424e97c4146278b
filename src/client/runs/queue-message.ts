import { MAX_WAITING_MESSAGES } from "../../core/machine/queue-limits.ts";
import { hasRoomFor } from "../../core/machine/queue-size.ts";
import { isOpenStatus } from "../../core/machine/status-code.ts";
import type { QueueMode } from "../../schema/definition.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import {
  type Acknowledgement,
  AGENT_WORKFLOW,
  clearQueuesSignal,
  followUpSignal,
  followUpUpdate,
  isPartWorkflow,
  queueModeSignal,
  steerSignal,
  steerUpdate,
  stopSignal,
} from "../../workflows/messages.ts";
import type { StartRequest } from "../../workflows/run-input.ts";
import {
  createInboxFullError,
  createQueueFullError,
  hasRunEnded,
  toHoldfastError,
} from "../client-errors.ts";
import { ANSWER_TIMEOUT_MS, type ClientLink } from "../connection/client-link.ts";
import { findSessionModels } from "../prompts/find-models.ts";
import type { Prompt } from "../prompts/prompt-part.ts";
import { resolveSessionId } from "../resolve-session-id.ts";
import { buildRunOptions, getRunSettings } from "./build-run-options.ts";
import { checkSearchAttributes } from "./check-search-attributes.ts";
import { endIfUnreadable } from "./end-unreadable-run.ts";
import { createMessageInput, type MessageOptions, type MessageWithId } from "./message-input.ts";
import { askStatus } from "./open-runs.ts";

/** How a message is delivered to a run. */
export type SendOptions = MessageOptions & {
  /** Waits until a run has accepted the message. An idle session stores it in its inbox without an acknowledgement. */
  readonly acknowledge?: boolean;
};

/** `queued`: the number of waiting messages; present only for an acknowledged message that a run has accepted. */
export type SendResult = {
  /** The id by which the message is accepted once. */
  readonly messageId: string;
  /** The number of messages that wait then. */
  readonly queued?: number;
};

/** How long a run may take to report its queue size. Without a worker, nothing reports it. */
const QUEUE_STATUS_TIMEOUT_MS = 1_000;

const QUEUES = {
  steer: { signal: steerSignal, update: steerUpdate, what: "steering message" },
  "follow-up": { signal: followUpSignal, update: followUpUpdate, what: "follow-up" },
} as const;

/** Queues a message for a running agent. An idle session reads it from its inbox when its next loop opens. */
export async function queueMessage(
  link: ClientLink,
  queue: keyof typeof QUEUES,
  session: string,
  prompt: Prompt,
  options: SendOptions = {},
): Promise<SendResult> {
  const { what: label } = QUEUES[queue];
  const message = await createMessageInput(link, prompt, label, {
    findModels: () => findSessionModels(link, session),
    id: options.messageId,
    metadata: options.metadata,
  });
  try {
    if (options.acknowledge === true) {
      const accepted = await sendAcknowledged(link, queue, session, message);
      if (accepted !== undefined) return { messageId: accepted.id, queued: accepted.queued };
    }
    await assertQueueHasRoom(link, session, message);
    if (isPartWorkflow(session)) {
      // An evaluation's own run has no session that could store the message.
      await link.client.workflow.getHandle(session).signal(QUEUES[queue].signal, message);
      return { messageId: message.id };
    }
    await checkSearchAttributes(link);
    await link.client.workflow.signalWithStart(AGENT_WORKFLOW, {
      ...buildRunOptions(link, resolveSessionId(session), {
        kind: "message",
        summary: `delivers a ${label}`,
      }),
      signal: QUEUES[queue].signal,
      signalArgs: [message],
      args: [getRunSettings(link) satisfies StartRequest],
    });
    return { messageId: message.id };
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

/**
 * Rejects a message for a full queue, as far as the size is known before the send: a signal has no answer. If a run's
 * queue fills up meanwhile, the run rejects the message itself, and reports that in its record and its status.
 */
export async function assertQueueHasRoom(
  link: ClientLink,
  session: string,
  message: MessageWithId,
): Promise<void> {
  const status = await askStatus(link, session, QUEUE_STATUS_TIMEOUT_MS);
  if (status !== undefined && isOpenStatus(status.status)) {
    const { steering, followUps, bytes = 0 } = status.queued;
    const waiting = { messages: steering + followUps, bytes };
    if (!hasRoomFor(waiting, message)) throw createQueueFullError(session, waiting);
    return;
  }
  const waiting = await readInboxSize(link, session);
  if (waiting >= MAX_WAITING_MESSAGES) throw createInboxFullError(session, waiting);
}

/** Ignores an unavailable store: it must not prevent the send. */
async function readInboxSize(link: ClientLink, session: string): Promise<number> {
  try {
    return (await (await link.storage.openExistingTranscript())?.countInbox(session)) ?? 0;
  } catch (error) {
    if (error instanceof StoreError) return 0;
    throw error;
  }
}

/** Returns `undefined` if no run is open any more. */
export async function sendAcknowledged(
  link: ClientLink,
  queue: keyof typeof QUEUES,
  session: string,
  message: MessageWithId,
): Promise<Acknowledgement | undefined> {
  try {
    return await link.connection.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
      link.client.workflow
        .getHandle(session)
        .executeUpdate(QUEUES[queue].update, { args: [message], updateId: message.id }),
    );
  } catch (error) {
    if (hasRunEnded(error)) return undefined;
    throw error;
  }
}

/**
 * Stops a run. Terminates a run whose workflow task keeps failing, because it cannot take the stop.
 *
 * @returns Whether a run was there to be stopped.
 */
export async function stopSession(link: ClientLink, session: string, reason?: string): Promise<boolean> {
  try {
    await link.client.workflow.getHandle(session).signal(stopSignal, reason);
    await endIfUnreadable(link, session, reason ?? "stop was requested");
    return true;
  } catch (error) {
    const failure = toHoldfastError(error, link, session);
    if (failure.code !== "session-unknown" || !(await sessionExists(link, session))) throw failure;
    return false;
  }
}

/** Tells whether an idle session with this id exists. */
export async function sessionExists(link: ClientLink, session: string): Promise<boolean> {
  if ((await (await link.storage.openExistingTranscript())?.readSession(session)) !== undefined) return true;
  return link.client.workflow
    .getHandle(session)
    .describe()
    .then(
      () => true,
      () => false,
    );
}

export async function setQueueMode(
  link: ClientLink,
  session: string,
  queue: "steering" | "follow-up",
  mode: QueueMode,
): Promise<void> {
  await sendSignal(link, session, () =>
    link.client.workflow.getHandle(session).signal(queueModeSignal, { queue, mode }),
  );
}

export async function clearQueues(
  link: ClientLink,
  session: string,
  queue: "steering" | "follow-up" | "all",
): Promise<void> {
  await sendSignal(link, session, () =>
    link.client.workflow.getHandle(session).signal(clearQueuesSignal, queue),
  );
}

async function sendSignal(link: ClientLink, session: string, send: () => Promise<void>): Promise<void> {
  try {
    await send();
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}
