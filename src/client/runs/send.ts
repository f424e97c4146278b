import { hasRoomFor, MAX_WAITING_MESSAGES } from "../../core/machine/waiting-messages.ts";
import type { QueueMode } from "../../schema/definition.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import type { StartRequest } from "../../workflows/input.ts";
import {
  type Accepted,
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
import { ANSWER_TIMEOUT_MS, type Link } from "../connection/link.ts";
import { endedMeanwhile, inboxFull, queueFull, translated } from "../failures.ts";
import { sessionId } from "../session-id.ts";
import { checkSearchAttributes } from "./registered.ts";
import { runOptions, settingsOf } from "./run-options.ts";
import { OPEN_WORDS } from "./status.ts";
import { askStatus } from "./tree.ts";
import { endIfUnreadable } from "./unreadable-run.ts";
import { type Message, pack } from "./words.ts";

export type SendOptions = {
  /** Waits until a run has taken the message. A session at rest takes it into its inbox all the same. */
  readonly acknowledge?: boolean;
  /** Makes a repeated send harmless: the same id is taken once. */
  readonly messageId?: string;
};

/** `queued`: how many messages wait now; only of an acknowledged one that a run has taken. */
export type Sent = { readonly messageId: string; readonly queued?: number };

/** How long a run may take to say whether it has room. Without a worker nobody says so. */
const ROOM_TIMEOUT_MS = 1_000;

const WAYS = {
  steer: { signal: steerSignal, update: steerUpdate, what: "steering message" },
  "follow-up": { signal: followUpSignal, update: followUpUpdate, what: "follow-up" },
} as const;

/** Words for a running agent; a session at rest finds them in its inbox when its next loop opens. */
export async function sendWords(
  link: Link,
  way: keyof typeof WAYS,
  session: string,
  text: string,
  options: SendOptions = {},
): Promise<Sent> {
  const { what } = WAYS[way];
  const message = await pack(link, text, what, options.messageId);
  try {
    if (options.acknowledge === true) {
      const accepted = await acknowledged(link, way, session, message);
      if (accepted !== undefined) return { messageId: accepted.id, queued: accepted.queued };
    }
    await mustHaveRoom(link, session, message);
    if (isPartWorkflow(session)) {
      // It has no session of its own that could keep the words.
      await link.client.workflow.getHandle(session).signal(WAYS[way].signal, message);
      return { messageId: message.id };
    }
    await checkSearchAttributes(link);
    await link.client.workflow.signalWithStart(AGENT_WORKFLOW, {
      ...runOptions(link, sessionId(session), { summary: `delivers a ${what}` }),
      signal: WAYS[way].signal,
      signalArgs: [message],
      args: [settingsOf(link) satisfies StartRequest],
    });
    return { messageId: message.id };
  } catch (error) {
    throw translated(error, link, session);
  }
}

/**
 * Refuses a message that has no room, as far as anybody can tell before it is sent: a signal has no answer. A run that
 * is filled meanwhile refuses the message itself, and says so in its record and its status.
 */
export async function mustHaveRoom(link: Link, session: string, message: Message): Promise<void> {
  const status = await askStatus(link, session, ROOM_TIMEOUT_MS);
  if (status !== undefined && OPEN_WORDS.some((word) => word === status.status)) {
    const { steering, followUps, bytes = 0 } = status.queued;
    const waiting = { messages: steering + followUps, bytes };
    if (!hasRoomFor(waiting, message)) throw queueFull(session, waiting);
    return;
  }
  const waiting = await inboxSize(link, session);
  if (waiting >= MAX_WAITING_MESSAGES) throw inboxFull(session, waiting);
}

/** A store that is away does not keep a message from being sent. */
async function inboxSize(link: Link, session: string): Promise<number> {
  try {
    return (await (await link.storage.existing())?.inboxSize(session)) ?? 0;
  } catch (error) {
    if (error instanceof StoreError) return 0;
    throw error;
  }
}

/** `undefined` when no run is open any more. */
export async function acknowledged(
  link: Link,
  way: keyof typeof WAYS,
  session: string,
  message: Message,
): Promise<Accepted | undefined> {
  try {
    return await link.connection.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
      link.client.workflow
        .getHandle(session)
        .executeUpdate(WAYS[way].update, { args: [message], updateId: message.id }),
    );
  } catch (error) {
    if (endedMeanwhile(error)) return undefined;
    throw error;
  }
}

/**
 * A run whose workflow task fails again and again cannot take the stop: it is terminated.
 *
 * @returns Whether a run was there to be stopped.
 */
export async function stopSession(link: Link, session: string, reason?: string): Promise<boolean> {
  try {
    await link.client.workflow.getHandle(session).signal(stopSignal, reason);
    await endIfUnreadable(link, session, reason ?? "stop was requested");
    return true;
  } catch (error) {
    const failure = translated(error, link, session);
    if (failure.code !== "session-unknown" || !(await isKnown(link, session))) throw failure;
    return false;
  }
}

/** At rest, then. */
export async function isKnown(link: Link, session: string): Promise<boolean> {
  if ((await (await link.storage.existing())?.session(session)) !== undefined) return true;
  return link.client.workflow
    .getHandle(session)
    .describe()
    .then(
      () => true,
      () => false,
    );
}

export async function setQueueMode(
  link: Link,
  session: string,
  queue: "steering" | "follow-up",
  mode: QueueMode,
): Promise<void> {
  await tell(link, session, () =>
    link.client.workflow.getHandle(session).signal(queueModeSignal, { queue, mode }),
  );
}

export async function clearQueues(
  link: Link,
  session: string,
  queue: "steering" | "follow-up" | "all",
): Promise<void> {
  await tell(link, session, () => link.client.workflow.getHandle(session).signal(clearQueuesSignal, queue));
}

async function tell(link: Link, session: string, send: () => Promise<void>): Promise<void> {
  try {
    await send();
  } catch (error) {
    throw translated(error, link, session);
  }
}
