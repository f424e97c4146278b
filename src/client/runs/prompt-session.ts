import { randomUUID } from "node:crypto";
import type { AgentDefinitionInput, Continuation } from "../../schema/definition.ts";
import { promptUpdate } from "../../workflows/messages.ts";
import { hasRunEnded, toHoldfastError } from "../client-errors.ts";
import { ANSWER_TIMEOUT_MS, type ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { findCurrentSession } from "../read/rotate-session.ts";
import { getBranchContinuation } from "../sessions/continue-on-branch.ts";
import { createMessageInput } from "./message-input.ts";
import { checkOptions, PromptingOptions } from "./options.ts";
import { launchByHash, type RunMode, type StartResult, startRun } from "./start-run.ts";

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
type ContinuationInput = { readonly continuation?: Continuation };

export type PromptResult = { readonly session: string; readonly messageId: string; readonly runId?: string };

/** The next prompt of a session: to the run that waits for one, else to a new run of the session. */
export async function promptSession(
  link: ClientLink,
  session: string,
  text: string,
  options: PromptOptions & ContinuationInput = {},
): Promise<PromptResult> {
  checkOptions(PromptingOptions, options, "prompt()");
  const { rotateAfterMs, ...rest } = options;
  if (rotateAfterMs !== undefined) {
    const now = await findCurrentSession(link, session, rotateAfterMs);
    return await promptSession(link, now.session, text, rest);
  }
  const messageId = options.messageId ?? randomUUID();
  if (options.branch !== undefined) {
    const continuation = await getBranchContinuation(link, session, options.branch);
    const continuationOptions = continuation === undefined ? {} : { continuation };
    const { runId } = await startNextRun(link, session, text, { ...rest, ...continuationOptions, messageId });
    return { session, messageId, runId };
  }
  const message = await createMessageInput(link, text, "prompt", messageId);
  try {
    const accepted = await link.connection.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
      link.client.workflow
        .getHandle(session)
        .executeUpdate(promptUpdate, { args: [message], updateId: messageId }),
    );
    return { session, messageId: accepted.id };
  } catch (error) {
    if (!hasRunEnded(error)) throw toHoldfastError(error, link, session);
  }
  const { runId } = await startNextRun(link, session, text, { ...options, messageId });
  return { session, messageId, runId };
}

async function startNextRun(
  link: ClientLink,
  session: string,
  prompt: string,
  {
    agent,
    mode,
    idleTimeoutMs,
    messageId,
    continuation,
  }: PromptOptions & ContinuationInput & { messageId: string },
): Promise<StartResult> {
  const options = {
    session,
    prompt,
    messageId,
    ...(mode === undefined ? {} : { mode }),
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    ...(continuation === undefined ? {} : { continuation }),
  };
  if (agent !== undefined) return startRun(link, { ...options, agent });
  const existing = await (await link.storage.openExistingTranscript())?.readSession(session);
  if (existing === undefined) {
    throw new HoldfastError(
      "session-unknown",
      `Session ${session} is not running and the transcript in ${link.storage.home.folder} does not know it: ` +
        "give the agent's definition with the prompt to begin it.",
      { session },
    );
  }
  return launchByHash(link, options, existing.definitionHash);
}
