import { expect, test } from "vitest";
import { getCellKind, getDefinitionKind } from "../../../src/core/suite/cell-kind.ts";
import { listOwnCode } from "../../../src/core/suite/own-code.ts";
import { AgentDefinition, type AgentDefinitionInput } from "../../../src/schema/definition.ts";

const MODEL = {
  id: "m",
  api: "anthropic_messages" as const,
  provider: "anthropic",
  baseUrl: "http://127.0.0.1:1",
  contextWindow: 1000,
};
const define = (more: Partial<AgentDefinitionInput> = {}) =>
  AgentDefinition.parse({ name: "a", ...more, model: MODEL });
const child = { name: "child", agent: { name: "c", model: MODEL, tools: ["own"] } };

test.each([
  ["a plain agent", {}, "answer"],
  ["an output format", { output: { type: "json" } }, "answer"],
  ["a tool", { tools: ["read_file"] }, "agent"],
  [
    "a tool server",
    { mcp: [{ name: "s", transport: { type: "http", url: "http://127.0.0.1:1" } }] },
    "agent",
  ],
  ["a sub-agent", { subAgents: [child] }, "agent"],
  ["an input filter", { inputFilters: ["f"] }, "agent"],
  ["a function for the context", { transformContext: ["f"] }, "agent"],
  ["a converter", { convertToLlm: "f" }, "agent"],
  ["an own translation", { contextTranslation: "f" }, "agent"],
  ["titles by the model", { titles: "model" }, "agent"],
] as const)("%s makes its cells of the kind it needs", (_, more, kind) => {
  expect(getDefinitionKind(define(more as never))).toBe(kind);
});

test.each([
  ["one message", { messages: ["a"] }, "answer"],
  ["several messages", { messages: ["a", "b"] }, "agent"],
  ["files", { messages: ["a"], files: { f: "" } }, "agent"],
  ["a fork", { messages: ["a"], fork: { session: "s" } }, "agent"],
  ["no message", { messages: [], fork: { session: "s" } }, "agent"],
])("a case with %s", (_, given, kind) => {
  expect(getCellKind("answer", { id: "c", ...given })).toBe(kind);
  expect(getCellKind("agent", { id: "c", ...given })).toBe("agent");
});

test("own code is what a definition names and neither it nor Holdfast contains", () => {
  expect(listOwnCode(define({ tools: ["read_file", "bash"] }))).toEqual([]);
  const definition = define({
    tools: ["bash", "own", "own"],
    inputFilters: ["filter"],
    transformContext: ["transform"],
    convertToLlm: "convert",
    contextTranslation: "translate",
    mcp: [{ name: "server", transport: { type: "http", url: "http://127.0.0.1:1" } }] as never,
    subAgents: [{ name: "child", agent: { name: "c", model: MODEL, tools: ["below"] } }] as never,
  });
  expect(listOwnCode(definition)).toEqual(
    ["own", "filter", "transform", "convert", "translate", "server", "below"].sort(),
  );
  expect(listOwnCode(define({ contextTranslation: "default" }))).toEqual([]);
});
