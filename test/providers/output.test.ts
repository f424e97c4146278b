import { describe, expect, test } from "vitest";
import { anthropic, local, openai } from "../../src/config/vendor-models.ts";
import { buildFinalTool } from "../../src/conversation/final-tool.ts";
import { AnthropicMessages } from "../../src/models/anthropic-messages/anthropic-messages.ts";
import { fitsGrammar, selectOutputMode } from "../../src/models/anthropic-messages/output-format.ts";
import { buildAnthropicRequest } from "../../src/models/anthropic-messages/request.ts";
import { OpenAiCompletions } from "../../src/models/openai-completions/openai-completions.ts";
import { toResponseFormat } from "../../src/models/openai-completions/request.ts";
import { supportsStrictMode } from "../../src/models/openai-output.ts";
import type { ThinkingLevel } from "../../src/schema/model.ts";
import type { StructuredOutput } from "../../src/schema/output.ts";
import { createHttp, createRequest } from "./answer-reader.ts";

const output: StructuredOutput & { type: "json-schema" } = {
  type: "json-schema",
  schema: { type: "object" },
};

describe("the tool that must be called, in Claude's API", () => {
  const choice = (id: string, thinking: ThinkingLevel) =>
    buildAnthropicRequest(
      createRequest(anthropic(id), { thinking, tools: [buildFinalTool(output)], forcedTool: "final_answer" }),
    ).tool_choice;

  test("is sent where the API accepts it, and left out with thinking and for newer models [SO-01.2]", () => {
    expect(choice("claude-sonnet-4-5", "off")).toEqual({ type: "tool", name: "final_answer" });
    expect(choice("claude-sonnet-4-5", "low")).toBeUndefined();
    expect(choice("claude-opus-5-5", "off")).toBeUndefined();
  });
});

test("the output mode of a vendor: native, or a final tool where it has no such format [SO-01.1-2]", () => {
  const adapter = { http: createHttp() };
  const completions = new OpenAiCompletions(adapter);
  const claude = (id: string, asked: StructuredOutput) =>
    new AnthropicMessages(adapter).selectOutputMode(anthropic(id), asked);
  const closed: StructuredOutput = {
    type: "json-schema",
    schema: { ...output.schema, additionalProperties: false },
  };
  for (const id of [
    "claude-sonnet-4-5",
    "claude-opus-4-6",
    "claude-opus-4-7",
    "claude-haiku-5-5",
    "claude-fable-5-2",
  ]) {
    expect(claude(id, closed)).toBe("native");
    expect(claude(id, output)).toBe("final-tool");
    expect(claude(id, { ...output, strict: true })).toBe("native");
    expect(claude(id, { ...closed, strict: false })).toBe("final-tool");
    expect(claude(id, { type: "json" })).toBe("final-tool");
  }
  for (const id of ["claude-sonnet-4-20250514", "claude-opus-4-1", "claude-3-5-haiku-20241022", "my-own"]) {
    expect(claude(id, closed)).toBe("final-tool");
  }
  const road = (provider: string, type: "json" | "json-schema") =>
    completions.selectOutputMode(
      { ...local("http://h/v1", "m"), provider },
      type === "json" ? { type } : output,
    );
  expect(completions.selectOutputMode(openai("gpt-5-mini"), output)).toBe("native");
  expect([road("local", "json"), road("local", "json-schema")]).toEqual(["native", "native"]);
  expect([road("deepseek", "json"), road("deepseek", "json-schema")]).toEqual(["native", "final-tool"]);
  expect([road("groq", "json"), road("groq", "json-schema")]).toEqual(["final-tool", "final-tool"]);
});

describe("a schema that Claude's compiler accepts", () => {
  const closed = (properties: object, more: object = {}) => ({
    type: "object",
    properties,
    additionalProperties: false,
    ...more,
  });
  const text = { type: "string" };

  test.each([
    ["closed, with an optional field", closed({ a: text }), true],
    [
      "lists, choices, enums, formats",
      closed({
        a: { type: "array", items: { anyOf: [text, closed({})] }, minItems: 1 },
        b: { enum: ["x", 1, null] },
        c: { ...text, format: "date" },
      }),
      true,
    ],
    ["definitions", closed({ a: { $ref: "#/$defs/d" } }, { $defs: { d: closed({ e: text }) } }), true],
    [
      "the dialect at its root",
      closed({}, { $schema: "https://json-schema.org/draft/2020-12/schema" }),
      true,
    ],
    ["an open object", { type: "object", properties: {} }, false],
    ["an open object in a list", closed({ a: { type: "array", items: { type: "object" } } }), false],
    ["a limit of a number", closed({ a: { type: "number", minimum: 1 } }), false],
    ["a limit of a text", closed({ a: { ...text, maxLength: 3 } }), false],
    ["a list of at least two", closed({ a: { type: "array", items: text, minItems: 2 } }), false],
    ["another format", closed({ a: { ...text, format: "phone" } }), false],
    ["an enum of objects", closed({ a: { enum: [{}] } }), false],
    [
      "recursion",
      closed({ a: { $ref: "#/$defs/d" } }, { $defs: { d: closed({ e: { $ref: "#/$defs/d" } }) } }),
      false,
    ],
    ["a reference elsewhere", closed({ a: { $ref: "https://h/s.json" } }), false],
    ["a reference to nothing", closed({ a: { $ref: "#/$defs/none" } }), false],
  ])("%s [SO-01.1]", (_, schema, fits) => expect(fitsGrammar(schema)).toBe(fits));

  test("is sent unchanged, without its dialect, together with an effort [SO-01.1]", () => {
    const schema = closed({ a: text });
    const asked: StructuredOutput = { type: "json-schema", schema: { $schema: "x", ...schema } };
    expect(selectOutputMode(anthropic("claude-opus-5"), asked)).toBe("native");
    const body = buildAnthropicRequest(
      createRequest(anthropic("claude-opus-5"), { thinking: "low", output: asked }),
    );
    expect(body.output_config).toEqual({ effort: "low", format: { type: "json_schema", schema } });
  });
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
  ])("%s [SO-01.1]", (_, schema, fits) => expect(supportsStrictMode(schema)).toBe(fits));

  test("follows the definition, if that sets it [SO-01.1]", () => {
    expect(toResponseFormat({ ...output, strict: true })).toMatchObject({ json_schema: { strict: true } });
    expect(toResponseFormat({ type: "json-schema", schema: closed({}), strict: false })).toMatchObject({
      json_schema: { strict: false },
    });
  });
});
