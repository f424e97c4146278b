import { describe, expect, test } from "vitest";
import { z } from "zod";
import { parseCall } from "../../src/activities/model/read-call.ts";
import { createDefaultTools } from "../../src/tools/builtin/default-tools.ts";
import { defineTool, toToolDefinition } from "../../src/tools/tool.ts";
import { ToolError } from "../../src/tools/tool-execution.ts";
import { ToolRegistry } from "../../src/tools/tool-registry.ts";
import { callTool, createContext } from "./tool-context.ts";

const weather = defineTool({
  name: "weather",
  label: "Weather report",
  description: "Tells the weather of a city",
  inputSchema: z.object({ city: z.string().describe("Its name"), days: z.number().optional() }),
  execute: ({ city }) => {
    if (city === "Atlantis") throw new ToolError("failed", "There is no such city");
    return `Sunny in ${city}`;
  },
});

describe("the parts of a tool", () => {
  test("its name, label, description and JSON Schema are as its author wrote them [TOOL-01.1]", () => {
    expect(weather).toMatchObject({
      name: "weather",
      label: "Weather report",
      description: "Tells the weather of a city",
      parameters: {
        type: "object",
        properties: { city: { type: "string", description: "Its name" }, days: { type: "number" } },
        required: ["city"],
      },
    });
    const unnamed = defineTool({ name: "a", description: "", inputSchema: z.object({}), execute: () => "" });
    expect(unnamed.label).toBe("a");
  });

  test("the built-in tools have all of them", () => {
    for (const { label, description, parameters } of createDefaultTools()) {
      expect(label).not.toBe("");
      expect(description).not.toBe("");
      expect(parameters).toMatchObject({ type: "object", properties: expect.anything() });
    }
  });

  test("its execution returns a result or an error [TOOL-01.2]", async () => {
    expect(await callTool(weather, { city: "Rome" }, createContext("/"))).toEqual({
      content: [{ type: "text", text: "Sunny in Rome" }],
    });
    await expect(callTool(weather, { city: "Atlantis" }, createContext("/"))).rejects.toBeInstanceOf(
      ToolError,
    );
  });

  test.each([
    ["", /use 1 to 64/],
    ["a b", /use 1 to 64/],
    ["x".repeat(65), /use 1 to 64/],
    ["call-model", /taken by Holdfast/],
  ])("the name %j is rejected", (name, words) => {
    const make = () => defineTool({ name, description: "", inputSchema: z.object({}), execute: () => "" });
    expect(make).toThrow(words);
  });

  test("its name is unique [TOOL-01.3]", () => {
    expect(() => new ToolRegistry([weather, weather])).toThrow('Tool "weather" is already registered');
  });
});

test("a model sees name, description and schema; its call reaches the tool of exactly that name [TOOL-09.1-2]", () => {
  const tools = [
    ...createDefaultTools(),
    weather,
    defineTool({
      name: "Weather",
      description: "Another",
      inputSchema: z.object({ city: z.string() }),
      execute: () => "other",
    }),
  ];
  const registry = new ToolRegistry(tools);
  const resolved = registry.resolve(tools.map(({ name }) => name));
  const offered = resolved.ok ? resolved.tools : [];
  const definitions = offered.map(toToolDefinition);
  expect(definitions.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
  for (const [index, { name, description, parameters }] of tools.entries()) {
    expect(definitions[index]).toEqual({ name, description, parameters });
    expect(registry.get(name)).toBe(tools[index]);
    const { digest } = parseCall({ type: "toolCall", id: "c", name, arguments: { city: "Rome" } }, offered);
    expect(digest.name).toBe(name);
  }
  const made = (name: string) =>
    parseCall({ type: "toolCall", id: "c", name, arguments: { city: "Rome" } }, offered).runs?.tool;
  expect(made("weather")).toBe(weather);
  expect(made("Weather")).toBe(tools.at(-1));
  expect([made("weathe"), made("weather2"), made("")]).toEqual([undefined, undefined, undefined]);
  expect([registry.get("WEATHER"), registry.get("weathe")]).toEqual([undefined, undefined]);
});
