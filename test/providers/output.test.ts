import { describe, expect, test } from "vitest";
import { anthropic, local, openai } from "../../src/config/model-names.ts";
import { finalTool } from "../../src/core/final-tool.ts";
import { AnthropicMessages } from "../../src/providers/anthropic-messages/provider.ts";
import { anthropicRequest } from "../../src/providers/anthropic-messages/request.ts";
import { responseFormat } from "../../src/providers/openai-completions/output.ts";
import { OpenAiCompletions } from "../../src/providers/openai-completions/provider.ts";
import { fitsStrictMode } from "../../src/providers/openai-output.ts";
import type { ThinkingLevel } from "../../src/schema/model.ts";
import type { StructuredOutput } from "../../src/schema/output.ts";
import { http, question } from "./play.ts";

const output: StructuredOutput = { type: "json-schema", schema: { type: "object" } };

describe("which tool must be called, on Claude's wire", () => {
  const choice = (id: string, thinking: ThinkingLevel) =>
    anthropicRequest(
      question(anthropic(id), { thinking, tools: [finalTool(output)], mustCall: "final_answer" }),
    ).tool_choice;

  test("is said where the API takes it, and left out with thinking and for the newer models [SO-01]", () => {
    expect(choice("claude-sonnet-4-5", "off")).toEqual({ type: "tool", name: "final_answer" });
    expect(choice("claude-sonnet-4-5", "low")).toBeUndefined();
    expect(choice("claude-opus-5-5", "off")).toBeUndefined();
  });
});

test("the road of a vendor: native, or a final tool where it knows no such format [SO-01]", () => {
  const adapter = { http: http() };
  const completions = new OpenAiCompletions(adapter);
  const road = (provider: string, type: "json" | "json-schema") =>
    completions.outputRoad({ ...local("http://h/v1", "m"), provider }, type === "json" ? { type } : output);
  expect(new AnthropicMessages(adapter).outputRoad()).toBe("final-tool");
  expect(completions.outputRoad(openai("gpt-5-mini"), output)).toBe("native");
  expect([road("local", "json"), road("local", "json-schema")]).toEqual(["native", "native"]);
  expect([road("deepseek", "json"), road("deepseek", "json-schema")]).toEqual(["native", "final-tool"]);
  expect([road("groq", "json"), road("groq", "json-schema")]).toEqual(["final-tool", "final-tool"]);
});

describe("strict mode", () => {
  const text = { type: "string" };
  const closed = (properties: object, required = Object.keys(properties)) => ({
    type: "object",
    properties,
    required,
    additionalProperties: false,
  });

  test.each([
    ["closed, all required", closed({ a: text }), true],
    [
      "within lists, choices and definitions",
      {
        ...closed({ a: { type: "array", items: { anyOf: [text, closed({})] } } }),
        $defs: { b: closed({ c: text }) },
      },
      true,
    ],
    ["an optional field", closed({ a: text }, []), false],
    ["an open object", { type: "object", properties: {} }, false],
    ["an open object in a list", closed({ a: { type: "array", items: { type: "object" } } }), false],
    ["an open definition", { ...closed({}), $defs: { b: { type: "object" } } }, false],
    ["a keyword that it refuses", closed({ a: { oneOf: [text] } }), false],
  ])("%s [SO-01]", (_, schema, fits) => expect(fitsStrictMode(schema)).toBe(fits));

  test("is what the definition says, where it says it [SO-01]", () => {
    expect(responseFormat({ ...output, strict: true })).toMatchObject({ json_schema: { strict: true } });
    expect(responseFormat({ type: "json-schema", schema: closed({}), strict: false })).toMatchObject({
      json_schema: { strict: false },
    });
  });
});
