import type { CostRates } from "./model.ts";

// A cost limit can be enforced only when every price is known: spending at an unknown price cannot be added up.

type PricedModel = { readonly provider: string; readonly id: string; readonly cost: CostRates | null };

/** The part of a definition that determines its prices. */
export type PricedAgent = {
  readonly model: PricedModel;
  readonly fallbacks?: readonly PricedModel[] | undefined;
  readonly subAgents?: readonly { readonly agent: PricedAgent }[] | undefined;
};

/** Lists the models whose prices are unknown, each once: the agent's own, its fallbacks and those of its sub-agents. */
function listUnpricedModels(agents: readonly PricedAgent[]): readonly string[] {
  return [...new Set(agents.flatMap(listUnpriced))];
}

function listUnpriced({ model, fallbacks = [], subAgents = [] }: PricedAgent): readonly string[] {
  const own = [model, ...fallbacks].filter(({ cost }) => cost === null);
  return [
    ...own.map(({ provider, id }) => `${provider}/${id}`),
    ...subAgents.flatMap(({ agent }) => listUnpriced(agent)),
  ];
}

const MAX_NAMED = 5;

const REMEDY =
  "Give its prices in dollars per million tokens (`cost: { input, output }` of the model in code and HTTP, [provider.cost] in an agent file, --prices IN,OUT on the command line, models.toml for all of them; 0 for a model that is free), or remove the cost limit";

/** Returns why a cost limit cannot be enforced for these agents, with a remedy; nothing when all prices are known. */
export function findCostLimitProblem(agents: readonly PricedAgent[]): string | undefined {
  const names = listUnpricedModels(agents);
  if (names.length === 0) return undefined;
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  const named = names.slice(0, MAX_NAMED).join(", ");
  return `a cost limit cannot be enforced: the price of ${named}${more} is unknown. ${REMEDY}`;
}
