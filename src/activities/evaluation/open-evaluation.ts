import { randomUUID } from "node:crypto";
import { buildJudgeSystemPrompt } from "../../conversation/evaluation/judge-prompt.ts";
import { findStrategyProblem } from "../../conversation/evaluation/strategies.ts";
import { buildLoopSegment } from "../../conversation/loop-segment.ts";
import type {
  BranchPosition,
  EvaluationOpenedDigest,
  OpenEvaluationCommand,
  OpenedAgent,
} from "../../core/evaluation/evaluation-digest.ts";
import { formatPromptReference } from "../../core/evaluation/prompt-reference.ts";
import type { InboundMessage } from "../../core/machine/state/inbound-message.ts";
import { BUILT_IN_EVALUATIONS } from "../../hooks/evaluation-strategy.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { deriveTitle } from "../../platform/text/title.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { type EvaluationAgent, EvaluationPlan } from "../../schema/evaluation.ts";
import type { PlannedLoop, ReservedLoop } from "../../store/transcript/evaluation.ts";
import type { Dependencies } from "../dependencies.ts";
import { assertContinuable } from "../open-loop/continuable.ts";
import { checkNames } from "../step/check-names.ts";
import { parseInput } from "../step/definitions.ts";
import { DefinitionError, toFailure } from "../step/failure.ts";
import { resolveMessage } from "../step/resolve-outbox.ts";
import { getCurrentStep } from "../step/step.ts";

type PlannedAgent = { readonly definition: AgentDefinition; readonly planned: PlannedLoop };

/** Pins what all branches begin with. Finds every problem that can be found before a model is paid. */
export async function openEvaluation(
  input: OpenEvaluationCommand,
  dependencies: Dependencies,
): Promise<EvaluationOpenedDigest> {
  const { transcript, evaluations } = dependencies;
  const step = getCurrentStep(input, dependencies.process);
  try {
    const { agents, strategy, limits } = getPlan(input);
    const problem = findStrategyProblem(strategy.type, agents.length);
    if (problem !== undefined) throw new DefinitionError(problem);
    if (strategy.type === "custom") checkRegistered(strategy.name, evaluations);
    let title: string | undefined;
    const keepText = async (message: InboundMessage) => {
      const { text, parts } = await resolveMessage(message, transcript);
      title ??= deriveTitle(text);
      return parts === undefined
        ? await transcript.putText(text, Date.now())
        : formatPromptReference({ ref: parts, parts: true });
    };
    const prompt = input.prompt === undefined ? undefined : await keepText(input.prompt);
    const prompts = await Promise.all(
      agents.map((_, index) => {
        const own = input.prompts?.[index] ?? undefined;
        return own === undefined ? undefined : keepText(own);
      }),
    );
    if (prompt === undefined && prompts.includes(undefined)) {
      await assertCanContinue(step.session, input.at, transcript);
    }
    const branches = await Promise.all(agents.map((agent) => planAgent(agent, dependencies)));
    const judge =
      strategy.type === "judge"
        ? await planAgent(strategy.judge, dependencies, (own) =>
            buildJudgeSystemPrompt(strategy.systemPrompt ?? own),
          )
        : undefined;
    const opened = await transcript.openEvaluation({
      step,
      atMs: Date.now(),
      agentId: randomUUID(),
      ...omitUndefined({ at: input.at }),
      strategy: strategy.type === "custom" ? strategy.name : strategy.type,
      branches: branches.map((agent) => agent.planned),
      ...omitUndefined({ judge: judge?.planned, title }),
    });
    return {
      evaluation: opened.evaluation,
      at: opened.at,
      ...omitUndefined({ parentLoopId: opened.parentLoopId }),
      branches: branches.map((agent, index) => ({
        ...buildOpenedAgent(agent, opened.branches[index] as ReservedLoop),
        ...omitUndefined({ prompt: prompts[index] }),
      })),
      ...(judge === undefined ? {} : { judge: buildOpenedAgent(judge, opened.judge as ReservedLoop) }),
      ...omitUndefined({ prompt, limits }),
    };
  } catch (error) {
    throw toFailure(error);
  }
}

function checkRegistered(name: string, { label: what, names }: Dependencies["evaluations"]): void {
  if (names.includes(name)) return;
  if (BUILT_IN_EVALUATIONS.includes(name)) {
    throw new DefinitionError(`"${name}" is a built-in strategy: use { type: "${name}" }`);
  }
  checkNames(what, [name], [...BUILT_IN_EVALUATIONS, ...names]);
}

function getPlan({ agents, strategy, limits }: OpenEvaluationCommand): EvaluationPlan {
  const plan = { agents, strategy, ...omitUndefined({ limits }) };
  return parseInput("evaluation", EvaluationPlan, plan);
}

/** Throws when the session cannot be continued (PAR-02). */
async function assertCanContinue(
  session: string,
  at: BranchPosition | undefined,
  transcript: Dependencies["transcript"],
): Promise<void> {
  const record = await transcript.readSession(session);
  const { branch = record?.headBranch ?? "", position = Number.MAX_SAFE_INTEGER } = at ?? {};
  const entries =
    record === undefined ? undefined : await transcript.readEntries(session, branch, 0, position);
  assertContinuable(session, entries, false);
}

/** @param prompted - Builds the system prompt from the agent's own one. */
async function planAgent(
  agent: EvaluationAgent,
  { definitions, transcript }: Pick<Dependencies, "definitions" | "transcript">,
  prompted = (own: string) => own,
): Promise<PlannedAgent> {
  const given =
    "definition" in agent ? agent.definition : await definitions.readAccepted(agent.definitionHash);
  const definition = { ...given, systemPrompt: prompted(given.systemPrompt) };
  const definitionHash = await transcript.saveDefinition(definition);
  return {
    definition,
    planned: {
      segment: buildLoopSegment(definition),
      definitionHash,
      agentName: definition.name,
      model: definition.model.id,
    },
  };
}

function buildOpenedAgent(
  { definition, planned }: PlannedAgent,
  { loopId, number }: ReservedLoop,
): OpenedAgent {
  const { segment: _, ...plan } = planned;
  const { limits, delegation } = definition;
  return { ...plan, loopId, number, limits, ...omitUndefined({ delegation }) };
}
