import { randomUUID } from "node:crypto";
import { judgeSystemPrompt } from "../../conversation/evaluation/judge-prompt.ts";
import { strategyProblem } from "../../conversation/evaluation/strategies.ts";
import { loopSegment } from "../../conversation/loop-segment.ts";
import type {
  EvaluationOpenedDigest,
  LoopPlace,
  OpenEvaluation,
  OpenedAgent,
} from "../../core/evaluation/digest.ts";
import type { PersonMessage } from "../../core/machine/state/state.ts";
import { BUILT_IN_EVALUATIONS } from "../../hooks/evaluation-strategy.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { type EvaluationAgent, EvaluationPlan } from "../../schema/evaluation.ts";
import type { PlannedLoop, ReservedLoop } from "../../store/transcript/evaluation.ts";
import type { Dependencies } from "../dependencies.ts";
import { mustBeContinuable } from "../open-loop/continuable.ts";
import { unloadMessage } from "../step/cargo.ts";
import { parsed } from "../step/definitions.ts";
import { asFailure, DefinitionError } from "../step/failure.ts";
import { checkNames } from "../step/known-names.ts";
import { currentStep } from "../step/step.ts";

type Agent = { readonly definition: AgentDefinition; readonly planned: PlannedLoop };

/** Pins what all branches begin with. All that can be known to be wrong before a model is paid is found here. */
export async function openEvaluation(
  input: OpenEvaluation,
  dependencies: Dependencies,
): Promise<EvaluationOpenedDigest> {
  const { transcript, evaluations } = dependencies;
  const step = currentStep(input, dependencies.process);
  try {
    const { agents, strategy, limits } = planOf(input);
    const problem = strategyProblem(strategy.type, agents.length);
    if (problem !== undefined) throw new DefinitionError(problem);
    if (strategy.type === "custom") mustBeRegistered(strategy.name, evaluations);
    const keepText = async (message: PersonMessage) =>
      await transcript.putText((await unloadMessage(message, transcript)).text, Date.now());
    const prompt = input.prompt === undefined ? undefined : await keepText(input.prompt);
    const prompts = await Promise.all(
      agents.map((_, index) => {
        const own = input.prompts?.[index] ?? undefined;
        return own === undefined ? undefined : keepText(own);
      }),
    );
    if (prompt === undefined && prompts.includes(undefined)) {
      await mustGoOn(step.session, input.at, transcript);
    }
    const branches = await Promise.all(agents.map((agent) => planned(agent, dependencies)));
    const judge =
      strategy.type === "judge"
        ? await planned(strategy.judge, dependencies, (own) =>
            judgeSystemPrompt(strategy.systemPrompt ?? own),
          )
        : undefined;
    const opened = await transcript.openEvaluation({
      step,
      atMs: Date.now(),
      agentId: randomUUID(),
      ...(input.at === undefined ? {} : { at: input.at }),
      strategy: strategy.type === "custom" ? strategy.name : strategy.type,
      branches: branches.map((agent) => agent.planned),
      ...(judge === undefined ? {} : { judge: judge.planned }),
    });
    return {
      evaluation: opened.evaluation,
      at: opened.at,
      ...(opened.parentLoopId === undefined ? {} : { parentLoopId: opened.parentLoopId }),
      branches: branches.map((agent, index) => ({
        ...reserved(agent, opened.branches[index] as ReservedLoop),
        ...(prompts[index] === undefined ? {} : { prompt: prompts[index] }),
      })),
      ...(judge === undefined ? {} : { judge: reserved(judge, opened.judge as ReservedLoop) }),
      ...(prompt === undefined ? {} : { prompt }),
      ...(limits === undefined ? {} : { limits }),
    };
  } catch (error) {
    throw asFailure(error);
  }
}

function mustBeRegistered(name: string, { what, names }: Dependencies["evaluations"]): void {
  if (names.includes(name)) return;
  if (BUILT_IN_EVALUATIONS.includes(name)) {
    throw new DefinitionError(`"${name}" is no strategy of an application: say { type: "${name}" }`);
  }
  checkNames(what, [name], [...BUILT_IN_EVALUATIONS, ...names]);
}

function planOf({ agents, strategy, limits }: OpenEvaluation): EvaluationPlan {
  const plan = { agents, strategy, ...(limits === undefined ? {} : { limits }) };
  return parsed("evaluation", EvaluationPlan, plan);
}

/** PAR-02. */
async function mustGoOn(
  session: string,
  at: LoopPlace | undefined,
  transcript: Dependencies["transcript"],
): Promise<void> {
  const record = await transcript.session(session);
  const { branch = record?.headBranch ?? "", position = Number.MAX_SAFE_INTEGER } = at ?? {};
  const entries = record === undefined ? undefined : await transcript.entries(session, branch, 0, position);
  mustBeContinuable(session, entries, false);
}

/** @param prompted - Makes its system prompt of its own one. */
async function planned(
  agent: EvaluationAgent,
  { definitions, transcript }: Pick<Dependencies, "definitions" | "transcript">,
  prompted = (own: string) => own,
): Promise<Agent> {
  const given =
    "definition" in agent ? agent.definition : await definitions.acceptedByHash(agent.definitionHash);
  const definition = { ...given, systemPrompt: prompted(given.systemPrompt) };
  const definitionHash = await transcript.saveDefinition(definition);
  return {
    definition,
    planned: {
      segment: loopSegment(definition),
      definitionHash,
      agentName: definition.name,
      model: definition.model.id,
    },
  };
}

function reserved({ definition, planned }: Agent, { loopId, number }: ReservedLoop): OpenedAgent {
  const { segment: _, ...plan } = planned;
  const { limits, delegation } = definition;
  return { ...plan, loopId, number, limits, ...(delegation === undefined ? {} : { delegation }) };
}
