import {
  type AgentDefinitionInput,
  defineSuite,
  formatProblem,
  type LoadedSuite,
  type ScorerInput,
  SuiteError,
  type SuiteInput,
} from "../../client/index.ts";
import type { StartEvaluationBody } from "./evaluation-requests.ts";
import { ServerProblem } from "./problem.ts";
import type { AgentChoice } from "./request-schemas.ts";
import { createNoAgentProblem, overrideModel, type ServedAgents, selectAgent } from "./served-agents.ts";

/**
 * Builds the suite of a request, and checks all of it before anything is stored.
 *
 * Agents are those of the server if it has any. Then a request may not name a command to run either: whoever may not choose
 * an agent's tools may not run their own commands as a scorer.
 *
 * @throws {ServerProblem} With every problem of the suite.
 */
export async function buildSuite(
  { configurations, scorers = [], fresh: _fresh, ...rest }: StartEvaluationBody,
  agents: ServedAgents,
): Promise<LoadedSuite> {
  assertScorersAllowed(scorers, agents);
  const suite = define({
    ...rest,
    configurations: configurations.map(({ name, agent, model }) => ({
      name,
      agent: requireAgent(agents, agent, model),
    })),
    scorers: scorers.map(
      (scorer): ScorerInput =>
        scorer.type === "judge" ? { ...scorer, agent: requireAgent(agents, scorer.agent) } : scorer,
    ),
  });
  const { problems } = await suite.checkCases();
  if (problems.length > 0) throw createSuiteProblem(problems.map(formatProblem));
  return suite;
}

function assertScorersAllowed(
  scorers: NonNullable<StartEvaluationBody["scorers"]>,
  agents: ServedAgents,
): void {
  const index = scorers.findIndex(({ type }) => type === "command");
  if (index < 0 || agents.size === 0) return;
  throw new ServerProblem(
    "body-invalid",
    `scorers.${index}: this server starts only its own agents, and runs no commands of its callers. Score with another ` +
      "type, or start a run with this scorer with `holdfast eval`.",
  );
}

function requireAgent(
  agents: ServedAgents,
  choice: AgentChoice | undefined,
  model?: string | undefined,
): AgentDefinitionInput {
  const agent = overrideModel(agents, selectAgent(agents, choice), model);
  if (agent === undefined) throw createNoAgentProblem(agents);
  return agent;
}

function define(input: SuiteInput): LoadedSuite {
  try {
    return defineSuite(input);
  } catch (error) {
    if (error instanceof SuiteError) throw createSuiteProblem(error.problems);
    throw error;
  }
}

function createSuiteProblem(problems: readonly string[]): ServerProblem {
  return new ServerProblem("body-invalid", `The suite is not valid: ${problems.join("; ")}.`, { problems });
}
