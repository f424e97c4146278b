import { randomUUID } from "node:crypto";
import type { AgentDefinitionInput, Continuation } from "../../schema/definition.ts";
import { promptUpdate } from "../../workflows/messages.ts";
import { ANSWER_TIMEOUT_MS, type Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { endedMeanwhile, translated } from "../failures.ts";
import { currentSession } from "../read/follow-session.ts";
import { onBranch } from "../sessions/on-branch.ts";
import { checkOptions, PromptingOptions } from "./options.ts";
import { launchByHash, type RunMode, type Started, startRun } from "./start.ts";
import { pack } from "./words.ts";

export type PromptOptions = {
  /** For a session at rest; the definition that it had last when absent. */
  readonly agent?: AgentDefinitionInput;
  /** For a session at rest; `run` when absent. */
  readonly mode?: RunMode;
  readonly idleTimeoutMs?: number | null;
  /** For a session at rest: goes on at the end of this branch, which is its head from then on. */
  readonly branch?: string;
  /** A session that was idle for longer is left for a new one of the same agent; the answer says which. */
  readonly rotateAfterMs?: number;
  /** Makes a repeated send harmless: the same id is taken once. */
  readonly messageId?: string;
};

/** How a run of a session at rest goes on behind what is there; a new loop of its own unless said. */
type GoingOn = { readonly continuation?: Continuation };

export type Prompted = { readonly session: string; readonly messageId: string; readonly runId?: string };

/** The next prompt of a session: to the run that waits for one, else to a new run of the session. */
export async function promptSession(
  link: Link,
  session: string,
  text: string,
  options: PromptOptions & GoingOn = {},
): Promise<Prompted> {
  checkOptions(PromptingOptions, options, "prompt()");
  const { rotateAfterMs, ...rest } = options;
  if (rotateAfterMs !== undefined) {
    const now = await currentSession(link, session, rotateAfterMs);
    return await promptSession(link, now.session, text, rest);
  }
  const messageId = options.messageId ?? randomUUID();
  if (options.branch !== undefined) {
    const continuation = await onBranch(link, session, options.branch);
    const goesOn = continuation === undefined ? {} : { continuation };
    const { runId } = await startAgain(link, session, text, { ...rest, ...goesOn, messageId });
    return { session, messageId, runId };
  }
  const message = await pack(link, text, "prompt", messageId);
  try {
    const accepted = await link.connection.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
      link.client.workflow
        .getHandle(session)
        .executeUpdate(promptUpdate, { args: [message], updateId: messageId }),
    );
    return { session, messageId: accepted.id };
  } catch (error) {
    if (!endedMeanwhile(error)) throw translated(error, link, session);
  }
  const { runId } = await startAgain(link, session, text, { ...options, messageId });
  return { session, messageId, runId };
}

async function startAgain(
  link: Link,
  session: string,
  prompt: string,
  { agent, mode, idleTimeoutMs, messageId, continuation }: PromptOptions & GoingOn & { messageId: string },
): Promise<Started> {
  const options = {
    session,
    prompt,
    messageId,
    ...(mode === undefined ? {} : { mode }),
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    ...(continuation === undefined ? {} : { continuation }),
  };
  if (agent !== undefined) return startRun(link, { ...options, agent });
  const known = await (await link.storage.existing())?.session(session);
  if (known === undefined) {
    throw new HoldfastError(
      "session-unknown",
      `Session ${session} is not running and the transcript in ${link.storage.home.folder} does not know it: ` +
        "give the agent's definition with the prompt to begin it.",
      { session },
    );
  }
  return launchByHash(link, options, known.definitionHash);
}
