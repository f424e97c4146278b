import type { AgentDefinition, AgentDefinitionInput } from "../../schema/definition.ts";
import type { EvaluationLimits } from "../../schema/evaluation.ts";
import type { EvaluationRequest, ExplorationResult } from "../../workflows/evaluation-input.ts";
import { EVALUATION_WORKFLOW } from "../../workflows/messages.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { translated } from "../failures.ts";
import { askedOf, type PlaceOptions, spotInstead } from "../read/spot.ts";
import { type WatchItem, type WatchOptions, watchSession } from "../read/watch.ts";
import { mustBeAccepted } from "./accepted.ts";
import { checkLimits, notBegun, pinner, problemOf } from "./evaluation-checks.ts";
import { knownSession } from "./known-session.ts";
import { comparedBy } from "./labels.ts";
import { checkWorkspace, validDefinition } from "./pinned-definition.ts";
import { checkSearchAttributes } from "./registered.ts";
import { awaitResult } from "./result.ts";
import { runOptions, settingsOf } from "./run-options.ts";
import { stopSession } from "./send.ts";
import { type SessionStatus, sessionStatus } from "./status.ts";
import { pack } from "./words.ts";

/** One line of several from the same place: what is different of it. */
export type ExploredBranch = {
  /** Left out: the model is asked again. */
  readonly prompt?: string;
  /** In place of the session's definition. */
  readonly agent?: AgentDefinitionInput;
  /** What of the session's definition is different. */
  readonly changes?: Partial<AgentDefinitionInput>;
};

export type ExploreOptions = PlaceOptions & {
  /** Of all branches together. */
  readonly limits?: EvaluationLimits;
};

/** Words of one branch of many that travel inline. */
const PART_INLINE_BYTES = 1024;

/** Branches from one place that are at work side by side, each for itself; none is chosen (HITL-03). */
export class Exploration {
  readonly session: string;
  readonly runId: string;
  readonly #link: Link;

  constructor(link: Link, session: string, runId: string) {
    this.#link = link;
    this.session = session;
    this.runId = runId;
  }

  /** Waits until all are over. The session's head is where it was: go on with `branch` of the one that you like. */
  async result(options: { readonly signal?: AbortSignal } = {}): Promise<ExplorationResult> {
    const result = await awaitResult(this.#link, this.session, { runId: this.runId, ...options });
    if ("branches" in result) return result as ExplorationResult;
    throw notBegun(result);
  }

  /** @param index - Of one branch, from 0; all of them when absent. Gives whether it was still at work. */
  async stop(index?: number, reason?: string): Promise<boolean> {
    if (index === undefined) return await stopSession(this.#link, this.session, reason);
    const { branches = [] } = await this.status();
    const { workflow, endedAtMs } = branches[index] ?? {};
    if (workflow === undefined || endedAtMs !== undefined) return false;
    return await stopSession(this.#link, workflow, reason);
  }

  status(): Promise<SessionStatus> {
    return sessionStatus(this.#link, this.session);
  }

  /** @param index - Of one branch, from 0; all of them when absent. Ends with what it is about. */
  async *watch(index?: number, options: WatchOptions = {}): AsyncGenerator<WatchItem, void, void> {
    let own: string | undefined;
    for await (const item of watchSession(this.#link, this.session, { runId: this.runId, ...options })) {
      if (index === undefined) yield item;
      else if (item.type === "group" && item.event.type === "ParallelLoopStart")
        own = item.event.loopIds[index];
      else if (own !== undefined && loopOf(item) === own) {
        yield item;
        if (item.type === "event" && item.event.body.type === "AgentEnd") return;
      }
    }
  }
}

function loopOf(item: WatchItem): string | undefined {
  if (item.type === "event") return item.event.loopId;
  return item.type === "delta" ? item.delta.loopId : undefined;
}

export async function exploreSession(
  link: Link,
  session: string,
  branches: readonly ExploredBranch[],
  { limits, ...place }: ExploreOptions = {},
): Promise<Exploration> {
  const strategy = { type: "keep" as const };
  const problem = problemOf({ agents: branches.map(() => ({}) as never), strategy, session });
  if (problem !== undefined) throw new HoldfastError("input-invalid", problem, { session });
  try {
    const { transcript, record } = await knownSession(link, session);
    const asked = askedOf(transcript, record);
    const prompted = branches.every(({ prompt }) => prompt !== undefined);
    const at = await spotInstead(asked, place, prompted);
    await mustBeAccepted(transcript, session, record.definitionHash);
    const base = await transcript.definition(record.definitionHash);
    const agents = branches.map((branch) => definitionOf(branch, base, session));
    checkLimits(limits, agents);
    for (const definition of agents) await checkWorkspace(definition);
    await checkSearchAttributes(link);
    const pin = await pinner(link, agents);
    const prompts = await Promise.all(
      branches.map(async ({ prompt }) =>
        prompt === undefined ? null : await pack(link, prompt, "prompt", undefined, PART_INLINE_BYTES),
      ),
    );
    const request: EvaluationRequest = {
      agents: await Promise.all(agents.map(pin)),
      strategy,
      prompts,
      at,
      ...(limits === undefined ? {} : { limits }),
      ...settingsOf(link),
    };
    const first = branches[0]?.prompt;
    const summary = comparedBy(agents.length, strategy.type, first, link.settings.words);
    const handle = await link.client.workflow.start(EVALUATION_WORKFLOW, {
      ...runOptions(link, session, { prompt: first, summary }),
      workflowIdConflictPolicy: "FAIL",
      args: [request],
    });
    return new Exploration(link, session, handle.firstExecutionRunId);
  } catch (error) {
    throw translated(error, link, session);
  }
}

function definitionOf(
  { agent, changes }: ExploredBranch,
  base: AgentDefinition | undefined,
  session: string,
): AgentDefinition {
  const given = agent ?? base;
  if (given !== undefined) return validDefinition({ ...given, ...changes });
  throw new HoldfastError("input-invalid", `The definition of session ${session} is not in the transcript.`, {
    session,
  });
}
