import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Continuation } from "../../schema/continuation.ts";
import type { AgentDefinition, AgentDefinitionInput } from "../../schema/definition.ts";
import { LoopLimits } from "../../schema/limits.ts";
import { AGENT_WORKFLOW } from "../../workflows/messages.ts";
import type { StartRequest } from "../../workflows/run-input.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import type { Prompt } from "../prompts/prompt-part.ts";
import { findCurrentSession } from "../read/rotate-session.ts";
import { resolveSessionId } from "../resolve-session-id.ts";
import { getBranchContinuation } from "../sessions/continue-on-branch.ts";
import { assertDefinitionAccepted } from "./accept-definition.ts";
import { buildRunOptions, getRunSettings } from "./build-run-options.ts";
import { checkCostLimit, checkOption } from "./check-option.ts";
import { checkSearchAttributes } from "./check-search-attributes.ts";
import { createMessageInput, type MessageOptions } from "./message-input.ts";
import {
  checkWorkspace,
  type PinnedDefinition,
  pinDefinition,
  validateDefinition,
} from "./pin-definition.ts";
import { checkTitle, resolveTitle } from "./run-title.ts";

/** What a run does when nothing is left to do: `run` ends, `interactive` waits for the next prompt. */
export type RunMode = "run" | "interactive";

/** The agent that a run starts with, and how the run behaves. */
export type StartOptions = MessageOptions & {
  readonly agent: AgentDefinitionInput;
  /** An interactive run may omit it and then waits for a prompt. */
  readonly prompt?: Prompt;
  /** Continues this session; a new one by default. */
  readonly session?: string;
  /** Continues at the end of this branch, which becomes the session's head. */
  readonly branch?: string;
  /** If the session was idle for longer, a new session of the same agent replaces it; `Session.id` is its id. */
  readonly rotateAfterMs?: number;
  /** A `run` ends when there is nothing left to do; an `interactive` one waits for the next prompt. */
  readonly mode?: RunMode;
  /** How long an interactive run waits before it ends; without a limit by default. */
  readonly idleTimeoutMs?: number | null;
  /** The session's title, on one line; by default the first words of its first prompt. */
  readonly title?: string;
};

type LaunchOptions = Omit<StartOptions, "agent" | "branch" | "rotateAfterMs"> & {
  readonly continuation?: Continuation;
};

/** What a start returns. */
export type StartResult = {
  readonly session: string;
  readonly runId: string;
  /** The id of the prompt's message; absent without a prompt. */
  readonly messageId?: string;
};

/** Finds all detectable errors before anything is written or started. */
export async function startRun(
  link: ClientLink,
  { agent, branch, rotateAfterMs, ...options }: StartOptions & Pick<LaunchOptions, "continuation">,
): Promise<StartResult> {
  const definition = validateDefinition(agent);
  await checkWorkspace(definition);
  const session = await resolveSession(link, options.session, rotateAfterMs);
  const continuation = await getContinuation(link, session, branch);
  const launched = { ...options, ...omitUndefined({ session }), ...continuation };
  return launchRun(link, launched, definition, () => pinDefinition(link, definition));
}

async function resolveSession(
  link: ClientLink,
  session: string | undefined,
  rotateAfterMs: number | undefined,
): Promise<string | undefined> {
  if (session === undefined || rotateAfterMs === undefined) return session;
  return (await findCurrentSession(link, resolveSessionId(session), rotateAfterMs)).session;
}

/** On a branch that is not the head, a prompt is a loop of kind `branch`. */
async function getContinuation(
  link: ClientLink,
  session: string | undefined,
  branch: string | undefined,
): Promise<Pick<LaunchOptions, "continuation">> {
  if (session === undefined || branch === undefined) return {};
  const continuation = await getBranchContinuation(link, session, branch);
  return omitUndefined({ continuation });
}

/** Continues with a definition that is stored already. */
export async function launchByHash(
  link: ClientLink,
  options: LaunchOptions,
  definitionHash: string,
): Promise<StartResult> {
  const definition = await readStoredDefinition(link, options.session ?? "", definitionHash);
  return launchRun(link, options, definition, async () => ({ definitionHash }));
}

/** Continues without a prompt, with a definition that is stored already. */
export async function continueByHash(
  link: ClientLink,
  session: string,
  continuation: Continuation,
  definitionHash: string,
): Promise<StartResult> {
  const definition = await readStoredDefinition(link, session, definitionHash);
  return launchRun(link, { session, continuation }, definition, async () => ({ definitionHash }));
}

async function readStoredDefinition(
  link: ClientLink,
  session: string,
  hash: string,
): Promise<AgentDefinition | undefined> {
  const transcript = await link.storage.openTranscript();
  await assertDefinitionAccepted(transcript, session, hash);
  return transcript.readDefinition(hash);
}

async function launchRun(
  link: ClientLink,
  options: LaunchOptions,
  definition: AgentDefinition | undefined,
  pinned: () => Promise<PinnedDefinition>,
): Promise<StartResult> {
  const { prompt, mode = "run", idleTimeoutMs, continuation } = options;
  const session = resolveSessionId(options.session);
  checkIdleTimeout(idleTimeoutMs);
  if (continuation?.limits !== undefined) {
    const limits = checkOption(LoopLimits, continuation.limits, "limits");
    if (definition !== undefined) checkCostLimit(limits, [definition]);
  }
  if (prompt === undefined && mode === "run" && continuation === undefined) {
    throw new HoldfastError(
      "input-invalid",
      "A run needs a prompt; only an interactive one can wait for it.",
    );
  }
  const title = options.title === undefined ? undefined : checkTitle(options.title);
  await checkSearchAttributes(link);
  const { messageId: id, metadata } = options;
  const findModels = () => (definition === undefined ? [] : [definition.model]);
  const message =
    prompt === undefined
      ? undefined
      : await createMessageInput(link, prompt, "prompt", { id, metadata, findModels });
  const request: StartRequest = {
    ...(await pinned()),
    ...omitUndefined({ prompt: message, continuation }),
    mode,
    ...omitUndefined({ idleTimeoutMs, title }),
    ...getRunSettings(link),
  };
  try {
    const displayed = await resolveTitle(link, { title, prompt, session: options.session });
    const handle = await link.client.workflow.start(AGENT_WORKFLOW, {
      ...buildRunOptions(link, session, { definition, prompt, title: displayed }),
      workflowIdConflictPolicy: "FAIL",
      args: [request],
    });
    return {
      session,
      runId: handle.firstExecutionRunId,
      ...omitUndefined({ messageId: message?.id }),
    };
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

function checkIdleTimeout(idleTimeoutMs: number | null | undefined): void {
  if (idleTimeoutMs === undefined || idleTimeoutMs === null) return;
  if (Number.isFinite(idleTimeoutMs) && idleTimeoutMs > 0) return;
  throw new HoldfastError(
    "input-invalid",
    `idleTimeoutMs is ${idleTimeoutMs}; it must be a number of milliseconds above 0, or null for no limit.`,
  );
}
