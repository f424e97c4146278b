import { describe, expect, test } from "vitest";
import { z } from "zod";
import { computeEditDistance, findNearestName } from "../../src/platform/text/nearest-name.ts";
import { createDefaultTools } from "../../src/tools/builtin/default-tools.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { ToolRegistry } from "../../src/tools/tool-registry.ts";

const named = (name: string) =>
  defineTool({ name, description: "", inputSchema: z.object({}), execute: () => "done" });

describe("the default tools", () => {
  test("pin: six names, their replay classes, and which may run locally", () => {
    expect(createDefaultTools().map(({ name, replay, quick }) => [name, replay, quick])).toEqual([
      ["bash", "unsafe", false],
      ["read_file", "pure", true],
      ["write_file", "idempotent", false],
      ["edit_file", "idempotent", false],
      ["list_files", "pure", true],
      ["search", "pure", true],
    ]);
  });

  test("pin: the parameters that a model sees", () => {
    const told = createDefaultTools().map(({ name, parameters: { properties, required = [] } }) => [
      name,
      Object.keys(properties as object),
      required,
    ]);
    expect(told).toEqual([
      ["bash", ["command"], ["command"]],
      ["read_file", ["path", "offset", "limit"], ["path"]],
      ["write_file", ["path", "content"], ["path", "content"]],
      ["edit_file", ["path", "old_text", "new_text"], ["path", "old_text", "new_text"]],
      ["list_files", ["path", "pattern", "max_depth"], []],
      ["search", ["pattern", "path", "include", "case_sensitive"], ["pattern"]],
    ]);
    for (const { parameters } of createDefaultTools()) expect(parameters).toMatchObject({ type: "object" });
  });
});

test("an application's tools are added to the six default ones, which have distinct names [TOOL-14.1-2]", () => {
  const six = ["bash", "read_file", "write_file", "edit_file", "list_files", "search"];
  expect(createDefaultTools().map(({ name }) => name)).toEqual(six);
  const registry = new ToolRegistry(createDefaultTools()).register(named("weather"));
  expect(registry.listNames()).toEqual([...six, "weather"]);
  const resolution = registry.resolve(["weather", ...six]);
  expect(resolution.ok && resolution.tools.map(({ name }) => name)).toEqual(["weather", ...six]);
});

test("tools are found by name in an empty and a default registry, with those of an application; unknown names are left out [TOOL-15.1-2]", () => {
  const empty = new ToolRegistry();
  expect([empty.listNames(), empty.has("bash")]).toEqual([[], false]);
  expect(empty.register(named("weather")).has("weather")).toBe(true);
  const registry = new ToolRegistry(createDefaultTools());
  expect([registry.has("bash"), registry.has("weather")]).toEqual([true, false]);
  registry.register(named("weather"));
  expect(registry.has("weather")).toBe(true);
  const resolution = registry.resolve(["weather", "nonsense", "bash"]);
  expect(resolution.ok && resolution.tools.map(({ name }) => name)).toEqual(["weather", "bash"]);
});

describe("the registry", () => {
  const registry = new ToolRegistry([...createDefaultTools(), named("weather")]);
  const names = (resolution: ReturnType<typeof registry.resolve>) =>
    resolution.ok ? resolution.tools.map((tool) => tool.name) : [];

  test("finds a tool by its exact name", () => {
    expect(registry.get("weather")?.name).toBe("weather");
    expect(registry.get("Weather")).toBeUndefined();
    expect(registry.get("file_read")).toBeUndefined();
    expect([registry.has("bash"), registry.has("toString")]).toEqual([true, false]);
    expect(registry.listNames()).toHaveLength(7);
  });

  test("rejects a second tool of the same name; an application's tool may have an alias as its name, which it then is", () => {
    expect(() => new ToolRegistry([named("a")]).register(named("a"))).toThrow(
      'Tool "a" is already registered',
    );
    const own = new ToolRegistry([...createDefaultTools(), named("file_read")]);
    expect(names(own.resolve(["read_file", "file_read"]))).toEqual(["read_file", "file_read"]);
  });

  test("resolves names and aliases, each tool once, in the requested order", () => {
    const resolution = registry.resolve(["search", "file_read", "file_write", "read_file", "weather"]);
    expect(resolution).toMatchObject({ ok: true, warnings: [] });
    expect(names(resolution)).toEqual(["search", "read_file", "write_file", "weather"]);
  });

  test("leaves out unknown names, with a warning and the nearest name", () => {
    const resolution = registry.resolve(["bash", "raed_file", "file_reed", "constructor"]);
    expect(names(resolution)).toEqual(["bash"]);
    expect(resolution).toMatchObject({
      warnings: [
        'Unknown tool "raed_file": did you mean "read_file"?',
        'Unknown tool "file_reed": did you mean "read_file"?',
        'Unknown tool "constructor": the tools are bash, read_file, write_file, edit_file, list_files, search, weather',
      ],
    });
  });

  test("reports an unknown name as an error if it is strict", () => {
    expect(registry.resolve(["bash", "baash"], { strict: true })).toEqual({
      ok: false,
      errors: ['Unknown tool "baash": did you mean "bash"?'],
    });
    expect(registry.resolve(["bash"], { strict: true })).toMatchObject({ ok: true, warnings: [] });
    expect(new ToolRegistry().resolve(["x"])).toMatchObject({
      warnings: ['Unknown tool "x": there are no tools'],
    });
  });
});

describe("the nearest name", () => {
  test.each([
    ["", "", 0],
    ["abc", "", 3],
    ["kitten", "sitting", 3],
    ["raed", "read", 1],
    ["flaw", "lawn", 2],
  ])("%s to %s", (left, right, distance) => {
    expect([computeEditDistance(left, right), computeEditDistance(right, left)]).toEqual([
      distance,
      distance,
    ]);
  });

  test("ignores case, and does not exist for a word that is far from all", () => {
    expect(findNearestName("Read_File", ["bash", "read_file"])).toBe("read_file");
    expect(findNearestName("deploy", ["bash", "read_file"])).toBeUndefined();
    expect(findNearestName("x", [])).toBeUndefined();
  });
});
