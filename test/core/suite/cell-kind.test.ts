import { expect, test } from "vitest";
import { KNOWN_TOOLS } from "../../../src/apps/cli/agent-file.ts";
import { getCellKind, getDefinitionKind } from "../../../src/core/suite/cell-kind.ts";
import { HOLDFAST_TOOLS, listOwnCode } from "../../../src/core/suite/own-code.ts";
import { AgentDefinition, type AgentDefinitionInput } from "../../../src/schema/definition.ts";

const model = {
  id: "m",
  api: "anthropic_messages",
  provider: "scripted",
  baseUrl: "http://127.0.0.1:9",
  contextWindow: 1000,
} as const;

const define = (input: Partial<AgentDefinitionInput>) => AgentDefinition.parse({ model, ...input });

test.each([
  ["a model alone", {}, "answer"],
  ["a system prompt, a temperature and a time limit", { systemPrompt: "x", temperature: 0 }, "answer"],
  ["a structured output", { output: { type: "json-schema", schema: { type: "object" } } }, "answer"],
  ["a tool", { tools: ["bash"] }, "agent"],
  ["a tool server", { mcp: [{ name: "s", transport: { type: "stdio", command: "x" } }] }, "agent"],
  ["a hook", { hooks: { "before-loop": ["h"] } }, "agent"],
  ["an input filter", { inputFilters: ["f"] }, "agent"],
  ["a context transform", { transformContext: ["t"] }, "agent"],
  ["a context converter", { convertToLlm: "c" }, "agent"],
  ["titles by the model", { titles: "model" }, "agent"],
  ["snapshots", { snapshots: "git" }, "agent"],
] as const)("%s makes cells of the kind %s", (_, input, kind) => {
  expect(getDefinitionKind(define(input as Partial<AgentDefinitionInput>))).toBe(kind);
});

test.each([
  ["one message", { messages: ["a"] }, "answer"],
  ["two messages", { messages: ["a", "b"] }, "agent"],
  ["files", { messages: ["a"], files: { "a.txt": "x" } }, "agent"],
  ["a fork", { messages: ["a"], fork: { session: "s" } }, "agent"],
] as const)("a case with %s is asked by its kind", (_, value, kind) => {
  expect(getCellKind("answer", { id: "c", ...value, messages: [...value.messages] })).toBe(kind);
});

test("what a definition names and does not contain is its own code, also of sub-agents", () => {
  const child = define({ tools: ["lookup", "bash"] });
  const definition = define({
    tools: ["bash", "search_tickets"],
    mcp: [{ name: "files", transport: { type: "stdio", command: "x" } }],
    inputFilters: ["mask"],
    subAgents: [{ name: "helper", agent: child }],
  } as unknown as Partial<AgentDefinitionInput>);
  expect(listOwnCode(definition)).toEqual(["files", "lookup", "mask", "search_tickets"]);
});

test("every tool of Holdfast that an agent can list is known", () => {
  expect(KNOWN_TOOLS.filter((name) => !HOLDFAST_TOOLS.has(name))).toEqual([]);
});
