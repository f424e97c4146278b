import type { AgentDefinitionInput } from "../schema/definition.ts";
import type { ModelServer } from "./model-server/server.ts";

/** The variable of a test agent's key. Set it in the worker's environment. */
export const TEST_KEY_NAME = "HOLDFAST_TEST_KEY";

/** The fields of a definition that differ from those of the test agent. */
export type TestAgentOptions = Omit<Partial<AgentDefinitionInput>, "model"> & {
  /** Fields of the model that differ. */
  readonly model?: Partial<AgentDefinitionInput["model"]>;
};

/** Where a scripted model server answers. */
export type ServerAddresses = Pick<ModelServer, "anthropicBaseUrl" | "openaiBaseUrl">;

const PROVIDERS: Readonly<Record<string, string>> = {
  anthropic_messages: "anthropic",
  openai_responses: "openai_responses",
  azure_openai_responses: "azure_openai",
};

function getBaseUrl(api: string, { anthropicBaseUrl, openaiBaseUrl }: ServerAddresses): string {
  if (api === "anthropic_messages") return anthropicBaseUrl;
  return api === "azure_openai_responses" ? openaiBaseUrl.replace(/\/v1$/, "/openai/v1") : openaiBaseUrl;
}

/** Creates the definition of an agent whose vendor is a scripted model server; options override every field. */
export function createTestAgent(
  server: ServerAddresses,
  { model, ...options }: TestAgentOptions = {},
): AgentDefinitionInput {
  const api = model?.api ?? "anthropic_messages";
  return {
    name: "test-agent",
    systemPrompt: "You are a test.",
    ...options,
    model: {
      id: "test-model",
      api,
      provider: PROVIDERS[api] ?? "openai",
      baseUrl: getBaseUrl(api, server),
      apiKey: `\${${TEST_KEY_NAME}}`,
      contextWindow: 200_000,
      // The prices are known to be 0, so a cost limit is allowed.
      cost: { input: 0, output: 0 },
      ...model,
    },
  };
}
