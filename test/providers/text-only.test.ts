import { expect, test } from "vitest";
import { buildModelRequest } from "../../src/activities/model/call-model.ts";
import { anthropic, openai } from "../../src/config/vendor-models.ts";
import { Outages } from "../../src/models/outages.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import type { Message } from "../../src/schema/message.ts";
import { createViewTools } from "../../src/tools/builtin/view-tools.ts";
import { ToolRegistry } from "../../src/tools/tool-registry.ts";
import { translateRequest } from "./translation/translated-request.ts";

const HELLO: readonly Message[] = [{ role: "user", content: [{ type: "text", text: "hi" }], timestamp: 0 }];
const READ = {
  name: "read",
  description: "Reads a file",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

/** How a vendor is told to make no call; Converse has no way to say it. */
const CHOICES = {
  anthropic_messages: { tool_choice: { type: "none" } },
  openai_completions: { tool_choice: "none" },
  openai_responses: { tool_choice: "none" },
  azure_openai_responses: { tool_choice: "none" },
  google_generative_ai: { toolConfig: { functionCallingConfig: { mode: "NONE" } } },
  google_vertex: { toolConfig: { functionCallingConfig: { mode: "NONE" } } },
  bedrock_converse_stream: {},
} as const;

test.each(Object.entries(CHOICES) as [keyof typeof CHOICES, object][])(
  "%s: an answer without calls is required, and the tools stay in the request for the cache [IRON-05]",
  async (protocol, choice) => {
    const settings = { systemPrompt: "", tools: [READ], thinking: "low" as const };
    const plain = await translateRequest(protocol, HELLO, settings);
    const forced = await translateRequest(protocol, HELLO, { ...settings, textOnly: true });
    expect(forced.body).toEqual({ ...plain.body, ...choice });
    expect(forced.objection).toBeUndefined();
    const bare = { ...settings, tools: [] };
    expect((await translateRequest(protocol, HELLO, { ...bare, textOnly: true })).body).toEqual(
      (await translateRequest(protocol, HELLO, bare)).body,
    );
  },
);

test("a structured output by way of a tool is required as that call, any other as text [IRON-05]", () => {
  const { apiKey: _, ...claude } = anthropic("claude-sonnet-4-5");
  const { apiKey: __, ...gpt } = openai("gpt-5.1");
  const dependencies = {
    tools: new ToolRegistry(createViewTools()),
    secrets: () => undefined,
    providers: ProviderRegistry.createDefault(),
    outages: new Outages(),
  };
  const asked = (definition: object) =>
    buildModelRequest(AgentDefinition.parse(definition), HELLO, dependencies, {
      isRepair: false,
      textOnly: true,
      formats: [],
    });
  const output = { type: "json" };
  const summary = [{ model: claude }, { model: claude, output }, { model: gpt, output }].map((definition) => {
    const { textOnly, forcedTool } = asked(definition);
    return [textOnly, forcedTool];
  });
  expect(summary).toEqual([
    [true, undefined],
    [undefined, "final_answer"],
    [true, undefined],
  ]);
});
