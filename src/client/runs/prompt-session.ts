import { randomUUID } from "node:crypto";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Continuation } from "../../schema/continuation.ts";
import type { AgentDefinitionInput } from "../../schema/definition.ts";
import { promptUpdate } from "../../workflows/messages.ts";
import { hasRunEnded, toHoldfastError } from "../client-errors.ts";
import { ANSWER_TIMEOUT_MS, type ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { findPromptedModels } from "../prompts/find-models.ts";
import type { Prompt } from "../prompts/prompt-part.ts";
import { findCurrentSession } from "../read/rotate-session.ts";
import { getBranchContinuation } from "../sessions/continue-on-branch.ts";
import { createMessageInput, type MessageOptions } from "./message-input.ts";
import { checkOptions, PromptingOptions } from "./options.ts";
import { launchByHash, type RunMode, type StartResult, startRun } from "./start-run.ts";

/** How a prompt opens or joins a run of a session. */
export type PromptOptions = MessageOptions & {
  /** For an idle session; its last definition by default. */
  readonly agent?: AgentDefinitionInput;
  /** For an idle session; `run` by default. */
  readonly mode?: RunMode;
  /**
   * For an idle session: how long an interactive run waits for a prompt, in milliseconds; `null`, the default, has no
   * limit.
   */
  readonly idleTimeoutMs?: number | null;
  /** For an idle session: continues at the end of this branch, which becomes the head. */
  readonly branch?: string;
  /** For an idle session: its title, on one line. A new session has the first words of the prompt by default. */
  readonly title?: string;
  /** If the session was idle for longer, the prompt goes to a new session of the same agent; the result contains its id. */
  readonly rotateAfterMs?: number;
};

/** How a run of an idle session continues after its last loop; a new loop by default. */
type ContinuationInput = { readonly continuation?: Continuation };

/** What became of a prompt. */
export type PromptResult = {
  readonly session: string;
  /** The id by which the prompt is accepted once. */
  readonly messageId: string;
  /** The run that was started for it; absent if a run was open. */
  readonly runId?: string;
};

/** Sends the next prompt to a session: to the run that waits for one, or to a new run. */
export async function promptSession(
  link: ClientLink,
  session: string,
  prompt: Prompt,
  options: PromptOptions & ContinuationInput = {},
): Promise<PromptResult> {
  checkOptions(PromptingOptions, options, "prompt()");
  const { rotateAfterMs, ...rest } = options;
  if (rotateAfterMs !== undefined) {
    const now = await findCurrentSession(link, session, rotateAfterMs);
    return await promptSession(link, now.session, prompt, rest);
  }
  const messageId = options.messageId ?? randomUUID();
  if (options.branch !== undefined) {
    const continuation = await getBranchContinuation(link, session, options.branch);
    const continuationOptions = omitUndefined({ continuation });
    const { runId } = await startNextRun(link, session, prompt, {
      ...rest,
      ...continuationOptions,
      messageId,
    });
    return { session, messageId, runId };
  }
  const { metadata } = options;
  const message = await createMessageInput(link, prompt, "prompt", {
    id: messageId,
    metadata,
    findModels: () => findPromptedModels(link, session, options.agent),
  });
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
  const { runId } = await startNextRun(link, session, prompt, { ...options, messageId });
  return { session, messageId, runId };
}

async function startNextRun(
  link: ClientLink,
  session: string,
  prompt: Prompt,
  {
    agent,
    mode,
    idleTimeoutMs,
    messageId,
    metadata,
    title,
    continuation,
  }: PromptOptions & ContinuationInput & { messageId: string },
): Promise<StartResult> {
  const options = {
    session,
    prompt,
    messageId,
    ...omitUndefined({ mode, idleTimeoutMs, metadata, title, continuation }),
  };
  if (agent !== undefined) return startRun(link, { ...options, agent });
  const existing = await (await link.storage.openExistingTranscript())?.readSession(session);
  if (existing === undefined) {
    throw new HoldfastError(
      "session-unknown",
      `Session ${session} is not running, and the transcript in ${link.storage.home.folder} has no such session. ` +
        "To create it, specify the agent's definition with the prompt.",
      { session },
    );
  }
  return launchByHash(link, options, existing.definitionHash);
}
