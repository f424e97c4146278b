import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { getPoints } from "./form/hook.ts";
import type { ScenarioSubAgentInput } from "./form/sub-agent.ts";
import type { ScenarioInput } from "./schema.ts";

/** The default prices, context window and protocol of a scenario's model. The model is free. */
const MODEL = {
  id: "scenario-model",
  api: "anthropic_messages",
  provider: "anthropic",
  contextWindow: 200_000,
  cost: { input: 0, output: 0 },
} as const;

/** Builds the scenario's agent as an author would write it, without validation. */
export function buildDefinition(
  scenario: Pick<ScenarioInput, "agent" | "tools" | "filters" | "hooks" | "subAgents">,
  baseUrl: string,
  overrides: { conversation?: string; workspace?: string } = {},
): unknown {
  const { agent = {}, tools = [], filters = [], hooks = [], subAgents = [] } = scenario;
  const { conversation } = overrides;
  const model = typeof agent["model"] === "object" ? (agent["model"] as object) : {};
  return {
    name: "scenario",
    tools: tools.map(({ name }) => name),
    ...(filters.length === 0 ? {} : { inputFilters: filters.map(({ name }) => name) }),
    ...(hooks.length === 0 ? {} : { hooks: listHooksByPoint(hooks) }),
    ...(subAgents.length === 0
      ? {}
      : { subAgents: subAgents.map((one) => buildSubAgent(one, baseUrl, overrides)) }),
    ...agent,
    ...omitUndefined({ workspace: overrides.workspace }),
    model: {
      ...MODEL,
      ...model,
      baseUrl,
      ...(conversation === undefined ? {} : { headers: { "x-conversation": conversation } }),
    },
  };
}

/** The sub-agent's conversation name extends its caller's. */
function buildSubAgent(
  { name, limits, acceptsMaxTurns, agent, subAgents }: ScenarioSubAgentInput,
  baseUrl: string,
  { conversation, ...overrides }: { conversation?: string; workspace?: string },
): unknown {
  const inner =
    conversation === undefined ? overrides : { ...overrides, conversation: `${conversation}/${name}` };
  return {
    name,
    ...omitUndefined({ limits, acceptsMaxTurns }),
    agent: buildDefinition({ agent, subAgents }, baseUrl, inner),
  };
}

/** Returns the hooks of each point, in the order of the scenario. */
function listHooksByPoint(hooks: NonNullable<ScenarioInput["hooks"]>): Record<string, unknown[]> {
  const uses: Record<string, unknown[]> = {};
  for (const { answers: _, at, onFailure, ...rest } of hooks) {
    const use =
      onFailure === undefined ? rest : { ...rest, onFailure: onFailure === "go-on" ? "continue" : onFailure };
    for (const point of getPoints({ at })) uses[point] = [...(uses[point] ?? []), use];
  }
  return uses;
}
