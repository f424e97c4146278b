import type { AgentDefinition } from "../../schema/definition.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { SuiteControl, SuitePlan } from "../../schema/suite.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { HoldfastError } from "../holdfast-error.ts";

/**
 * Refuses a budget that cannot be enforced (decision 0027).
 *
 * @param agents - Those of the configurations, and the judges.
 */
export function assertPricesKnown(
  { maxCostUsd = null }: Pick<Partial<SuiteControl>, "maxCostUsd">,
  agents: readonly AgentDefinition[],
): void {
  if (maxCostUsd === null) return;
  const unknown = agents.flatMap(listAllModels).find(({ cost }) => cost === null);
  if (unknown === undefined) return;
  throw new HoldfastError(
    "input-invalid",
    `The suite has a budget, and the price of ${unknown.provider}/${unknown.id} is unknown: state its \`cost\`, or leave out the budget.`,
  );
}

/** Reads the agents of a stored plan: those of its configurations, and the judges. */
export async function readPlannedAgents(
  { configurations, scorers }: Pick<SuitePlan, "configurations" | "scorers">,
  transcript: Pick<Transcript, "readDefinition">,
): Promise<readonly AgentDefinition[]> {
  const hashes = [
    ...configurations.map(({ definitionHash }) => definitionHash),
    ...scorers.flatMap((scorer) => (scorer.type === "judge" ? [scorer.judge] : [])),
  ];
  const stored = await Promise.all([...new Set(hashes)].map((hash) => transcript.readDefinition(hash)));
  return stored.flatMap((definition) => definition ?? []);
}

/** Lists the models that an agent and its sub-agents can ask. */
function listAllModels({ model, fallbacks = [], subAgents = [] }: AgentDefinition): readonly ModelConfig[] {
  return [model, ...fallbacks, ...subAgents.flatMap(({ agent }) => listAllModels(agent))];
}
