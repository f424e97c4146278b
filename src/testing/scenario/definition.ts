import type { ScenarioInput } from "./schema.ts";

/** Rates, window and wire of a scenario's model, where it does not say. */
const MODEL = {
  id: "scenario-model",
  api: "anthropic_messages",
  provider: "anthropic",
  contextWindow: 200_000,
} as const;

/** The agent that a scenario describes, as an author would write it; not checked yet. */
export function definitionInput(
  scenario: Pick<ScenarioInput, "agent" | "tools" | "filters">,
  baseUrl: string,
  more: { headers?: Record<string, string>; workspace?: string } = {},
): unknown {
  const { agent = {}, tools = [], filters = [] } = scenario;
  const model = typeof agent["model"] === "object" ? (agent["model"] as object) : {};
  return {
    name: "scenario",
    tools: tools.map(({ name }) => name),
    ...(filters.length === 0 ? {} : { inputFilters: filters.map(({ name }) => name) }),
    ...agent,
    ...(more.workspace === undefined ? {} : { workspace: more.workspace }),
    model: { ...MODEL, ...model, baseUrl, ...(more.headers === undefined ? {} : { headers: more.headers }) },
  };
}
