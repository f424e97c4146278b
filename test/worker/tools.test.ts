import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Dependencies } from "../../src/activities/dependencies.ts";
import { createActivities } from "../../src/activities/index.ts";
import { KNOWN_TOOLS } from "../../src/apps/cli/agent-file.ts";
import { HOLDFAST_TOOLS } from "../../src/core/suite/own-code.ts";
import { READ_FULL_TOOL } from "../../src/core/view/view-request.ts";
import { BUILT_IN_EVALUATIONS } from "../../src/hooks/evaluation-strategy.ts";
import type { Logger } from "../../src/platform/log.ts";
import { PinnedStrategy } from "../../src/schema/evaluation.ts";
import { defineTool, RESERVED_TOOL_NAMES, type Tool } from "../../src/tools/tool.ts";
import { ToolRegistry } from "../../src/tools/tool-registry.ts";
import { registerWithBuiltIns } from "../../src/worker/agent-host.ts";
import { listTools } from "../../src/worker/worker-tools.ts";

const silent = { warn: () => undefined };
const own = (name: string, text = "mine"): Tool =>
  defineTool({ name, description: "x", inputSchema: z.object({}), execute: () => text });

function logger() {
  const lines: string[] = [];
  const warn = (_: unknown, line?: string) => void lines.push(line ?? "");
  return { lines, log: { warn } as Pick<Logger, "warn"> };
}

describe("names of activities", () => {
  const activities = Object.keys(createActivities({} as Dependencies)).filter((name) => name !== "default");

  test.each(activities)("a tool cannot be named %s: its calls would reach the activity", (name) => {
    expect(RESERVED_TOOL_NAMES).toContain(name);
    expect(() => own(name)).toThrow(`Tool name "${name}" is taken by Holdfast`);
    const handMade = { ...own("mine"), name };
    expect(() => new ToolRegistry([handMade])).toThrow(`Tool name "${name}" is taken by Holdfast`);
  });
});

describe("an application's tools", () => {
  test("override built-in tools of the same name, and the worker reports it", () => {
    const { lines, log } = logger();
    const tools = listTools({ tools: [own("bash"), own("prun"), own("sleep"), own("mine")] }, log);
    const registry = new ToolRegistry(tools);
    expect(registry.get("bash")?.description).toBe("x");
    expect(registry.get("prun")?.kind).toBe("executable");
    expect(registry.get("sleep")).not.toHaveProperty("rest");
    expect(registry.get("read_file")?.description).not.toBe("x");
    expect(lines).toEqual(
      ["bash", "prun", "sleep"].map(
        (name) => `The tool "${name}" of the application replaces the built-in tool of that name`,
      ),
    );
  });

  test("replace all tools of a lead if one of those has the same name", () => {
    const { lines, log } = logger();
    const registry = new ToolRegistry(listTools({ tools: [own("stop_agent")] }, log));
    expect(registry.has("delegate")).toBe(false);
    expect(registry.get("stop_agent")?.description).toBe("x");
    expect(lines).toHaveLength(1);
  });

  test("are rejected if two have the same name", () => {
    const tools = listTools({ tools: [own("mine"), own("mine")] }, silent);
    expect(() => new ToolRegistry(tools)).toThrow('Tool "mine" is already registered');
  });
});

test("the command line knows exactly the built-in tools that an agent may use", () => {
  expect(
    listTools({}, silent)
      .map(({ name }) => name)
      .filter((name) => name !== READ_FULL_TOOL)
      .sort(),
  ).toEqual([...KNOWN_TOOLS].sort());
});

test("a suite takes exactly the built-in tools for Holdfast's own code", () => {
  const names = listTools({}, silent).map(({ name }) => name);
  expect(names.sort()).toEqual([...HOLDFAST_TOOLS].sort());
});

test("an application's function overrides a built-in one of the same name, and the worker reports it", () => {
  const { lines, log } = logger();
  const mine = () => 0;
  const named = registerWithBuiltIns(
    "evaluation strategy",
    { keep: mine, best: mine },
    BUILT_IN_EVALUATIONS,
    log,
  );
  expect(named.get("keep")).toBe(mine);
  expect(lines).toEqual([
    'The evaluation strategy "keep" of the application replaces the built-in one of that name',
  ]);
});

test("every strategy of an evaluation except an application's own is a built-in one", () => {
  const types = PinnedStrategy.options.flatMap(({ shape: { type } }): string[] =>
    "options" in type ? type.options : [type.value],
  );
  expect([...BUILT_IN_EVALUATIONS].sort()).toEqual(types.filter((type) => type !== "custom").sort());
});
