import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition, AgentDefinitionInput } from "../../schema/definition.ts";
import type { EvaluationLimits } from "../../schema/evaluation.ts";
import type { EvaluationRequest, ExplorationResult } from "../../workflows/evaluation-input.ts";
import { EVALUATION_WORKFLOW } from "../../workflows/messages.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { formatPromptLabel, type Prompt } from "../prompts/prompt-part.ts";
import { createPositionReader, findPosition, type PositionOptions } from "../read/branch-position.ts";
import { type EventsOptions, type SessionEvent, streamSessionEvents } from "../read/session-events.ts";
import { assertDefinitionAccepted } from "./accept-definition.ts";
import { awaitResult } from "./await-result.ts";
import { buildRunOptions, getRunSettings } from "./build-run-options.ts";
import {
  checkLimits,
  createDefinitionPinner,
  createEvaluationNotStartedError,
  findEvaluationProblem,
} from "./check-evaluation.ts";
import { checkSearchAttributes } from "./check-search-attributes.ts";
import { getSessionRecord } from "./get-session-record.ts";
import { createMessageInput } from "./message-input.ts";
import { checkWorkspace, validateDefinition } from "./pin-definition.ts";
import { stopSession } from "./queue-message.ts";
import { formatEvaluationSummary } from "./run-labels.ts";
import { resolveTitle } from "./run-title.ts";
import { readSessionStatus, type SessionStatus } from "./session-status.ts";

/** One of several branches from the same position: how it differs. */
export type ExploredBranch = {
  /** If omitted, the model answers again. */
  readonly prompt?: Prompt;
  /** Replaces the session's definition. */
  readonly agent?: AgentDefinitionInput;
  /** The fields that differ from the session's definition. */
  readonly changes?: Partial<AgentDefinitionInput>;
};

/** The branches to explore, from which position, and their limits. */
export type ExploreOptions = PositionOptions & {
  /** The limits of all branches together. */
  readonly limits?: EvaluationLimits;
};

/** The maximum bytes of inline text for one of many branches. */
const PART_INLINE_BYTES = 1024;

/** Branches from one position that run side by side, each on its own; none is chosen (HITL-03). */
export class Exploration {
  /** The session that is explored. */
  readonly session: string;
  /** Temporal's id of the run that leads the branches. */
  readonly runId: string;
  readonly #link: ClientLink;

  /** @internal */
  constructor(link: ClientLink, session: string, runId: string) {
    this.#link = link;
    this.session = session;
    this.runId = runId;
  }

  /** Waits for all branches. The session's head does not change: continue with the `branch` that you prefer. */
  async result(
    options: {
      /** Ends the wait; the branches continue. */
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<ExplorationResult> {
    const result = await awaitResult(this.#link, this.session, { runId: this.runId, ...options });
    if ("branches" in result) return result as ExplorationResult;
    throw createEvaluationNotStartedError(result);
  }

  /**
   * Stops one branch, or all.
   *
   * @param index - One branch, from 0; all branches by default.
   * @returns Whether it was still running.
   */
  async stop(index?: number, reason?: string): Promise<boolean> {
    if (index === undefined) return await stopSession(this.#link, this.session, reason);
    const { branches = [] } = await this.status();
    const { workflow, endedAtMs } = branches[index] ?? {};
    if (workflow === undefined || endedAtMs !== undefined) return false;
    return await stopSession(this.#link, workflow, reason);
  }

  /** Reads the status of the session and the branches. */
  status(): Promise<SessionStatus> {
    return readSessionStatus(this.#link, this.session);
  }

  /** Follows the events of the branches, and ends with them. @param index - One branch, from 0; all by default. */
  async *events(index?: number, options: EventsOptions = {}): AsyncGenerator<SessionEvent, void, void> {
    // Readers from the beginning learn the branch's loop from the first event.
    const isLate = index !== undefined && options.from !== undefined;
    let own = isLate ? (await this.status()).branches?.[index]?.loopId : undefined;
    const all = streamSessionEvents(this.#link, this.session, { runId: this.runId, ...options });
    for await (const item of all) {
      const { event } = item;
      if (index === undefined) yield item;
      else if (event.type === "ParallelLoopStart") own = event.loopIds[index];
      else if (own !== undefined && "loopId" in event && event.loopId === own) {
        yield item;
        if (event.type === "AgentEnd") return;
      }
    }
  }
}

export async function exploreSession(
  link: ClientLink,
  session: string,
  branches: readonly ExploredBranch[],
  { limits, ...position }: ExploreOptions = {},
): Promise<Exploration> {
  const strategy = { type: "keep" as const };
  const problem = findEvaluationProblem({ agents: branches.map(() => ({}) as never), strategy, session });
  if (problem !== undefined) throw new HoldfastError("input-invalid", problem, { session });
  try {
    const { transcript, record } = await getSessionRecord(link, session);
    const reader = createPositionReader(transcript, record);
    const allPrompted = branches.every(({ prompt }) => prompt !== undefined);
    const at = await findPosition(reader, position, allPrompted);
    await assertDefinitionAccepted(transcript, session, record.definitionHash);
    const base = await transcript.readDefinition(record.definitionHash);
    const agents = branches.map((branch) => applyBranchChanges(branch, base, session));
    checkLimits(limits, agents);
    for (const definition of agents) await checkWorkspace(definition);
    await checkSearchAttributes(link);
    const pinAgent = await createDefinitionPinner(link, agents);
    const prompts = await Promise.all(
      branches.map(async ({ prompt }, index) =>
        prompt === undefined
          ? null
          : await createMessageInput(link, prompt, "prompt", {
              inlineBytes: PART_INLINE_BYTES,
              findModels: () => agents.slice(index, index + 1).map(({ model }) => model),
            }),
      ),
    );
    const request: EvaluationRequest = {
      agents: await Promise.all(agents.map(pinAgent)),
      strategy,
      prompts,
      at,
      ...omitUndefined({ limits }),
      ...getRunSettings(link),
    };
    const first = branches[0]?.prompt;
    const label = first === undefined ? undefined : formatPromptLabel(first);
    const summary = formatEvaluationSummary(agents.length, strategy.type, label, link.settings.redactContent);
    const title = await resolveTitle(link, { prompt: first, session });
    const handle = await link.client.workflow.start(EVALUATION_WORKFLOW, {
      ...buildRunOptions(link, session, { kind: "exploration", prompt: first, summary, title }),
      workflowIdConflictPolicy: "FAIL",
      args: [request],
    });
    return new Exploration(link, session, handle.firstExecutionRunId);
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

function applyBranchChanges(
  { agent, changes }: ExploredBranch,
  base: AgentDefinition | undefined,
  session: string,
): AgentDefinition {
  const changed = agent ?? base;
  if (changed !== undefined) return validateDefinition({ ...changed, ...changes });
  throw new HoldfastError("input-invalid", `The definition of session ${session} is not in the transcript.`, {
    session,
  });
}
