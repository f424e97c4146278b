import {
  type AgentDefinition,
  type AgentDefinitionInput,
  type Continuation,
  LoopLimits,
} from "../../schema/definition.ts";
import type { StartRequest } from "../../workflows/input.ts";
import { AGENT_WORKFLOW } from "../../workflows/messages.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { translated } from "../failures.ts";
import { currentSession } from "../read/follow-session.ts";
import { sessionId } from "../session-id.ts";
import { onBranch } from "../sessions/on-branch.ts";
import { mustBeAccepted } from "./accepted.ts";
import { checkCostLimit, checked } from "./checked.ts";
import {
  checkWorkspace,
  type PinnedDefinition,
  pinDefinition,
  validDefinition,
} from "./pinned-definition.ts";
import { checkSearchAttributes } from "./registered.ts";
import { runOptions, settingsOf } from "./run-options.ts";
import { pack } from "./words.ts";

export type RunMode = "run" | "interactive";

export type StartOptions = {
  readonly agent: AgentDefinitionInput;
  /** May be left out by an interactive run, which then waits for one. */
  readonly prompt?: string;
  /** Goes on in this session; a new one when absent. */
  readonly session?: string;
  /** Goes on at the end of this branch of the session, which is its head from then on. */
  readonly branch?: string;
  /** A session that was idle for longer is left for a new one of the same agent; see `Session.id` for which. */
  readonly rotateAfterMs?: number;
  /** A `run` ends when there is nothing left to do; an `interactive` one waits for the next prompt. */
  readonly mode?: RunMode;
  /** How long an interactive run waits before it ends; for ever unless said. */
  readonly idleTimeoutMs?: number | null;
  /** Makes a repeated start harmless for the conversation: the same prompt is taken once. */
  readonly messageId?: string;
};

type Launch = Omit<StartOptions, "agent" | "branch" | "rotateAfterMs"> & {
  readonly continuation?: Continuation;
};

export type Started = { readonly session: string; readonly runId: string; readonly messageId?: string };

/** All that can be known to be wrong is found before anything is written or started. */
export async function startRun(
  link: Link,
  { agent, branch, rotateAfterMs, ...options }: StartOptions & Pick<Launch, "continuation">,
): Promise<Started> {
  const definition = validDefinition(agent);
  await checkWorkspace(definition);
  const session = await sessionFor(link, options.session, rotateAfterMs);
  const goesOn = await goingOn(link, session, branch);
  const launched = { ...options, ...(session === undefined ? {} : { session }), ...goesOn };
  return launch(link, launched, definition, () => pinDefinition(link, definition));
}

async function sessionFor(
  link: Link,
  session: string | undefined,
  rotateAfterMs: number | undefined,
): Promise<string | undefined> {
  if (session === undefined || rotateAfterMs === undefined) return session;
  return (await currentSession(link, sessionId(session), rotateAfterMs)).session;
}

/** On a branch that is not the head, a prompt is a loop of kind `branch`. */
async function goingOn(
  link: Link,
  session: string | undefined,
  branch: string | undefined,
): Promise<Pick<Launch, "continuation">> {
  if (session === undefined || branch === undefined) return {};
  const continuation = await onBranch(link, session, branch);
  return continuation === undefined ? {} : { continuation };
}

/** Goes on with a definition that is stored already. */
export async function launchByHash(link: Link, options: Launch, definitionHash: string): Promise<Started> {
  const definition = await storedDefinition(link, options.session ?? "", definitionHash);
  return launch(link, options, definition, async () => ({ definitionHash }));
}

/** Goes on without a prompt, with a definition that is stored already. */
export async function continueByHash(
  link: Link,
  session: string,
  continuation: Continuation,
  definitionHash: string,
): Promise<Started> {
  const definition = await storedDefinition(link, session, definitionHash);
  return launch(link, { session, continuation }, definition, async () => ({ definitionHash }));
}

async function storedDefinition(
  link: Link,
  session: string,
  hash: string,
): Promise<AgentDefinition | undefined> {
  const transcript = await link.storage.transcript();
  await mustBeAccepted(transcript, session, hash);
  return transcript.definition(hash);
}

async function launch(
  link: Link,
  options: Launch,
  definition: AgentDefinition | undefined,
  pin: () => Promise<PinnedDefinition>,
): Promise<Started> {
  const { prompt, mode = "run", idleTimeoutMs, continuation } = options;
  const session = sessionId(options.session);
  checkIdleTimeout(idleTimeoutMs);
  if (continuation?.limits !== undefined) {
    const limits = checked(LoopLimits, continuation.limits, "limits");
    if (definition !== undefined) checkCostLimit(limits, [definition]);
  }
  if (prompt === undefined && mode === "run" && continuation === undefined) {
    throw new HoldfastError(
      "input-invalid",
      "A run needs a prompt; only an interactive one can wait for it.",
    );
  }
  await checkSearchAttributes(link);
  const message = prompt === undefined ? undefined : await pack(link, prompt, "prompt", options.messageId);
  const request: StartRequest = {
    ...(await pin()),
    ...(message === undefined ? {} : { prompt: message }),
    ...(continuation === undefined ? {} : { continuation }),
    mode,
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    ...settingsOf(link),
  };
  try {
    const handle = await link.client.workflow.start(AGENT_WORKFLOW, {
      ...runOptions(link, session, { definition, prompt }),
      workflowIdConflictPolicy: "FAIL",
      args: [request],
    });
    return {
      session,
      runId: handle.firstExecutionRunId,
      ...(message === undefined ? {} : { messageId: message.id }),
    };
  } catch (error) {
    throw translated(error, link, session);
  }
}

function checkIdleTimeout(idleTimeoutMs: number | null | undefined): void {
  if (idleTimeoutMs === undefined || idleTimeoutMs === null) return;
  if (Number.isFinite(idleTimeoutMs) && idleTimeoutMs > 0) return;
  throw new HoldfastError(
    "input-invalid",
    `idleTimeoutMs is ${idleTimeoutMs}; it must be a number of milliseconds above 0, or null to wait for ever.`,
  );
}
