import type { AgentDefinitionInput } from "../schema/definition.ts";
import type { ModelServer } from "./model-server/server.ts";

/** The variable that a test agent's key is taken from. Its value is for the worker's environment. */
export const TEST_KEY_NAME = "HOLDFAST_TEST_KEY";

export type TestAgentOptions = Omit<Partial<AgentDefinitionInput>, "model"> & {
  readonly model?: Partial<AgentDefinitionInput["model"]>;
};

/** The definition of an agent whose vendor is a scripted model server; everything can be said otherwise. */
export function testAgent(
  server: Pick<ModelServer, "anthropicBaseUrl" | "openaiBaseUrl">,
  { model, ...options }: TestAgentOptions = {},
): AgentDefinitionInput {
  const api = model?.api ?? "anthropic_messages";
  const anthropic = api === "anthropic_messages";
  return {
    name: "test-agent",
    systemPrompt: "You are a test.",
    ...options,
    model: {
      id: "test-model",
      api,
      provider: anthropic ? "anthropic" : "openai",
      baseUrl: anthropic ? server.anthropicBaseUrl : server.openaiBaseUrl,
      apiKey: `\${${TEST_KEY_NAME}}`,
      contextWindow: 200_000,
      ...model,
    },
  };
}
