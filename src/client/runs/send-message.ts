import { randomUUID } from "node:crypto";
import { materialise } from "../../conversation/materialise.ts";
import type { Entry } from "../../schema/record.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { busy, translated } from "../failures.ts";
import { currentSession } from "../read/follow-session.ts";
import { type PromptOptions, promptSession } from "./prompt.ts";
import { acknowledged, sendWords } from "./send.ts";
import { pack } from "./words.ts";

export type SendMessageOptions = Omit<PromptOptions, "branch"> & {
  /** What becomes of it while a loop is running: refused with `session-busy` unless said. */
  readonly whileRunning?: "refuse" | "steer" | "follow-up";
};

/**
 * How a message was taken: it opened the session, continued a conversation that waits for an answer, prompted one that
 * ends with an answer, or was put before the agent that is at work.
 */
export type TakenAs = "opened" | "continued" | "prompted" | "steered" | "followed-up";

export type MessageSent = {
  readonly session: string;
  readonly messageId: string;
  readonly as: TakenAs;
  /** Of the run that was started for it. */
  readonly runId?: string;
};

/** Runs that may end under a message while it is being put before them; then it lies in the inbox. */
const TRIES = 5;

/** One message, whatever the session is doing (HITL-04). Repeated with the same `messageId` it is taken once. */
export async function sendMessage(
  link: Link,
  asked: string,
  text: string,
  { whileRunning = "refuse", rotateAfterMs, ...options }: SendMessageOptions = {},
): Promise<MessageSent> {
  const session =
    rotateAfterMs === undefined ? asked : (await currentSession(link, asked, rotateAfterMs)).session;
  const messageId = options.messageId ?? randomUUID();
  for (let tried = 0; tried < TRIES; tried++) {
    const as = await wayIn(link, session);
    try {
      const goesOn = as === "continued" ? { continuation: { kind: { type: "default" as const } } } : {};
      const { runId } = await promptSession(link, session, text, { ...options, ...goesOn, messageId });
      return { session, messageId, as, ...(runId === undefined ? {} : { runId }) };
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== "session-busy") throw error;
      if (whileRunning === "refuse") throw refused(session, error);
    }
    if (await isTaken(link, whileRunning, session, text, messageId)) {
      return { session, messageId, as: takenAs(whileRunning) };
    }
  }
  await sendWords(link, whileRunning === "follow-up" ? "follow-up" : "steer", session, text, { messageId });
  return { session, messageId, as: takenAs(whileRunning) };
}

/** Not taken when the run has ended meanwhile: then the session is at rest, and can be prompted. */
async function isTaken(
  link: Link,
  way: "steer" | "follow-up",
  session: string,
  text: string,
  messageId: string,
): Promise<boolean> {
  const message = await pack(link, text, "message", messageId);
  try {
    return (await acknowledged(link, way, session, message)) !== undefined;
  } catch (error) {
    throw translated(error, link, session);
  }
}

function takenAs(way: SendMessageOptions["whileRunning"]): "steered" | "followed-up" {
  return way === "follow-up" ? "followed-up" : "steered";
}

function refused(session: string, cause: HoldfastError): HoldfastError {
  const { message } = busy(session);
  return new HoldfastError(
    "session-busy",
    `${message} Or send it with whileRunning: "steer" or "follow-up"; \`holdfast stop ${session}\` ends the run.`,
    { session, command: `holdfast steer ${session}`, cause },
  );
}

/** What a message is to the conversation as it stands. */
async function wayIn(link: Link, session: string): Promise<"opened" | "continued" | "prompted"> {
  try {
    const transcript = await link.storage.existing();
    const record = await transcript?.session(session);
    if (transcript === undefined || record === undefined) return "opened";
    const page = 64;
    for (let to = await transcript.length(session, record.headBranch); to > 0; to -= page) {
      const entries = await transcript.entries(session, record.headBranch, Math.max(0, to - page), to);
      const last = entries.flatMap(endOf).at(-1);
      if (last !== undefined) return last === "assistant" ? "prompted" : "continued";
    }
    return "opened";
  } catch (error) {
    throw translated(error, link, session);
  }
}

/** Whose word this entry is to a model that is asked next; failed answers and what models do not see are nobody's. */
function endOf(entry: Entry): readonly ("user" | "assistant" | "toolResult")[] {
  if (entry.message.role === "toolResult") return ["toolResult"];
  const { position } = entry;
  const alone = { branch: "", ranges: [{ from: position, to: position + 1 }] };
  return materialise(alone, [entry])
    .slice(-1)
    .map(({ role }) => role);
}
