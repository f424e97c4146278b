import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition, AgentDefinitionInput } from "../../schema/definition.ts";
import type { EvaluationLimits } from "../../schema/evaluation.ts";
import type { EvaluationRequest, EvaluationResult } from "../../workflows/evaluation-input.ts";
import { EVALUATION_WORKFLOW } from "../../workflows/messages.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { formatPromptLabel, type Prompt } from "../prompts/prompt-part.ts";
import type { EventsOptions, SessionEvent } from "../read/session-events.ts";
import { resolveSessionId } from "../resolve-session-id.ts";
import { Session } from "../session.ts";
import { awaitResult } from "./await-result.ts";
import { buildRunOptions, getRunSettings } from "./build-run-options.ts";
import {
  checkLimits,
  createDefinitionPinner,
  createEvaluationNotStartedError,
  findEvaluationProblem,
} from "./check-evaluation.ts";
import { checkSearchAttributes } from "./check-search-attributes.ts";
import type { EvaluationStrategy } from "./evaluation-strategies.ts";
import { createMessageInput } from "./message-input.ts";
import { checkWorkspace, validateDefinition } from "./pin-definition.ts";
import { addOutput, type ResultOptions } from "./read-output.ts";
import { rejectFailure } from "./reject-failure.ts";
import { formatEvaluationSummary } from "./run-labels.ts";
import { resolveTitle } from "./run-title.ts";
import type { SessionStatus } from "./session-status.ts";

/** The agents that answer side by side, and how an answer is chosen. */
export type EvaluateOptions = {
  /** One branch per agent. */
  readonly agents: readonly AgentDefinitionInput[];
  /** How the best answer is chosen. */
  readonly strategy: EvaluationStrategy;
  /** If omitted, every branch continues the session's conversation as it is. */
  readonly prompt?: Prompt;
  /** The session at whose head all branches begin; a new one by default. */
  readonly session?: string;
  /** The limits of all branches and the judge together. */
  readonly limits?: EvaluationLimits;
};

/** The result of an evaluation; `output` is present if the chosen answer is a structured output. */
export type EvaluationOutcome = EvaluationResult & {
  /** The chosen answer's value, checked against the definition's format. */
  readonly output?: unknown;
};

/** An evaluation that was started. */
export class Evaluation {
  /** The session of the evaluation and of all its branches. */
  readonly session: string;
  /** The run that this handle has started; the newest run if absent. */
  readonly runId: string | undefined;
  readonly #link: ClientLink;
  readonly #session: Session;

  /** @internal */
  constructor(link: ClientLink, session: string, runId?: string) {
    this.#link = link;
    this.#session = new Session(link, session, runId);
    this.session = session;
    this.runId = runId;
  }

  /**
   * Waits for the choice.
   *
   * @throws {HoldfastError} With the code `run-failed` and the outcome in `facts`, if the chosen branch failed.
   */
  async result(options?: ResultOptions): Promise<EvaluationOutcome> {
    return rejectFailure(
      await this.tryResult(options),
      { name: `The chosen branch of the evaluation in session ${this.session}`, session: this.session },
      {
        advice:
          "`tryResult()` returns the other branches, too: continue with one of them, or evaluate again.",
      },
    );
  }

  /** Waits as `result` does, and returns the result of a failed branch, too. */
  async tryResult(options: ResultOptions = {}): Promise<EvaluationOutcome> {
    const result = await awaitResult(this.#link, this.session, { runId: this.runId, ...options });
    if (!isEvaluationResult(result)) throw createEvaluationNotStartedError(result);
    return { ...result, ...(await addOutput(this.#link, result, undefined, options.signal)) };
  }

  /** Stops the running branches; the choice is made among their results so far. Returns whether it was still open. */
  stop(reason?: string): Promise<boolean> {
    return this.#session.stop(reason);
  }

  /** Reads the status of the evaluation and its branches. */
  status(): Promise<SessionStatus> {
    return this.#session.status();
  }

  /** Streams the events of all branches and the judge. */
  events(options?: EventsOptions): AsyncIterable<SessionEvent> {
    return this.#session.events(options);
  }
}

/** Finds all detectable errors before anything is written or started. */
export async function startEvaluation(link: ClientLink, options: EvaluateOptions): Promise<Evaluation> {
  const { prompt, limits, strategy } = options;
  const problem = findEvaluationProblem(options);
  if (problem !== undefined) throw new HoldfastError("input-invalid", problem);
  const session = resolveSessionId(options.session);
  const agents = options.agents.map(validateDefinition);
  const judge = strategy.type === "judge" ? validateDefinition(strategy.judge) : undefined;
  for (const definition of [...agents, ...(judge === undefined ? [] : [judge])]) {
    await checkWorkspace(definition);
  }
  checkLimits(limits, [...agents, ...(judge === undefined ? [] : [judge])]);
  await checkSearchAttributes(link);
  const message =
    prompt === undefined
      ? undefined
      : await createMessageInput(link, prompt, "prompt", {
          findModels: () => agents.map(({ model }) => model),
        });
  const pinAgent = await createDefinitionPinner(link, agents);
  const request: EvaluationRequest = {
    agents: await Promise.all(agents.map(pinAgent)),
    strategy:
      strategy.type === "judge" ? { ...strategy, judge: await pinAgent(judge as AgentDefinition) } : strategy,
    ...omitUndefined({ limits, prompt: message }),
    ...getRunSettings(link),
  };
  const summary = formatEvaluationSummary(
    agents.length,
    strategy.type,
    prompt === undefined ? undefined : formatPromptLabel(prompt),
    link.settings.redactContent,
  );
  try {
    const title = await resolveTitle(link, { prompt, session: options.session });
    const handle = await link.client.workflow.start(EVALUATION_WORKFLOW, {
      ...buildRunOptions(link, session, { kind: "evaluation", prompt, summary, title }),
      workflowIdConflictPolicy: "FAIL",
      args: [request],
    });
    return new Evaluation(link, session, handle.firstExecutionRunId);
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

function isEvaluationResult(result: object): result is EvaluationResult {
  return "decision" in result;
}
