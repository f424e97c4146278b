import { randomUUID } from "node:crypto";
import { materialise } from "../../conversation/materialise.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Entry } from "../../schema/record.ts";
import { createBusyError, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { findSessionModels } from "../prompts/find-models.ts";
import type { Prompt } from "../prompts/prompt-part.ts";
import { findCurrentSession } from "../read/rotate-session.ts";
import { createMessageInput, type MessageOptions } from "./message-input.ts";
import { type PromptOptions, promptSession } from "./prompt-session.ts";
import { queueMessage, sendAcknowledged } from "./queue-message.ts";

/** How `session.send` delivers a message in each state of the session. */
export type SendMessageOptions = Omit<PromptOptions, "branch"> & {
  /** What to do with the message while a loop is running. By default, it is rejected with `session-busy`. */
  readonly whileRunning?: "reject" | "steer" | "follow-up";
};

/**
 * How a message was delivered: it opened the session, continued a conversation that waits for an answer, prompted one that
 * ends with an answer, or was queued for the running agent.
 */
export type DeliveryKind = "opened" | "continued" | "prompted" | "steered" | "followed-up";

/** What became of a message. */
export type SendMessageResult = {
  readonly session: string;
  /** The id by which the message is accepted once. */
  readonly messageId: string;
  /** What the message did. */
  readonly delivery: DeliveryKind;
  /** The id of the run that was started for it. */
  readonly runId?: string;
};

/** How many runs may end while a message is being delivered to them; after that, the message waits in the inbox. */
const MAX_TRIES = 5;

/** Sends one message, whatever the session's state (HITL-04). The same `messageId` is accepted once. */
export async function sendMessage(
  link: ClientLink,
  requestedSession: string,
  prompt: Prompt,
  { whileRunning = "reject", rotateAfterMs, ...options }: SendMessageOptions = {},
): Promise<SendMessageResult> {
  const session =
    rotateAfterMs === undefined
      ? requestedSession
      : (await findCurrentSession(link, requestedSession, rotateAfterMs)).session;
  const messageId = options.messageId ?? randomUUID();
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const as = await getInitialDelivery(link, session);
    try {
      const continuation = as === "continued" ? { continuation: { kind: { type: "default" as const } } } : {};
      const { runId } = await promptSession(link, session, prompt, {
        ...options,
        ...continuation,
        messageId,
      });
      return { session, messageId, delivery: as, ...omitUndefined({ runId }) };
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== "session-busy") throw error;
      if (whileRunning === "reject") throw createBusyErrorWithHint(session, error);
    }
    if (await isAcceptedByRun(link, whileRunning, session, prompt, { ...options, messageId })) {
      return { session, messageId, delivery: getDeliveryKind(whileRunning) };
    }
  }
  await queueMessage(link, whileRunning === "follow-up" ? "follow-up" : "steer", session, prompt, {
    messageId,
    ...omitUndefined({ metadata: options.metadata }),
  });
  return { session, messageId, delivery: getDeliveryKind(whileRunning) };
}

/** Returns false if the run has ended meanwhile: then the session is idle and can be prompted. */
async function isAcceptedByRun(
  link: ClientLink,
  mode: "steer" | "follow-up",
  session: string,
  prompt: Prompt,
  { messageId: id, metadata }: MessageOptions,
): Promise<boolean> {
  const message = await createMessageInput(link, prompt, "message", {
    id,
    metadata,
    findModels: () => findSessionModels(link, session),
  });
  try {
    return (await sendAcknowledged(link, mode, session, message)) !== undefined;
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

function getDeliveryKind(mode: SendMessageOptions["whileRunning"]): "steered" | "followed-up" {
  return mode === "follow-up" ? "followed-up" : "steered";
}

function createBusyErrorWithHint(session: string, cause: HoldfastError): HoldfastError {
  const { message } = createBusyError(session);
  return new HoldfastError(
    "session-busy",
    `${message} Or send it with whileRunning: "steer" or "follow-up"; \`holdfast stop ${session}\` stops the run.`,
    { session, command: `holdfast steer ${session}`, cause },
  );
}

/** Returns how a message relates to the current conversation. */
async function getInitialDelivery(
  link: ClientLink,
  session: string,
): Promise<"opened" | "continued" | "prompted"> {
  try {
    const transcript = await link.storage.openExistingTranscript();
    const record = await transcript?.readSession(session);
    if (transcript === undefined || record === undefined) return "opened";
    const page = 64;
    for (let to = await transcript.countEntries(session, record.headBranch); to > 0; to -= page) {
      const entries = await transcript.readEntries(session, record.headBranch, Math.max(0, to - page), to);
      const last = entries.flatMap(getLastRoles).at(-1);
      if (last !== undefined) return last === "assistant" ? "prompted" : "continued";
    }
    return "opened";
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

/** Returns the roles in which the next model request contains this entry; nothing for failed answers and hidden messages. */
function getLastRoles(entry: Entry): readonly ("user" | "assistant" | "toolResult")[] {
  if (entry.message.role === "toolResult") return ["toolResult"];
  const { position } = entry;
  const singleEntryView = { branch: "", ranges: [{ from: position, to: position + 1 }] };
  return materialise(singleEntryView, [entry])
    .slice(-1)
    .map(({ role }) => role);
}
