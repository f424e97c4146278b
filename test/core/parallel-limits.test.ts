import { describe, expect, test } from "vitest";
import type { CallToolsCommand } from "../../src/core/machine/state/command.ts";
import type { Limits } from "../../src/schema/limits.ts";
import type { ToolStrategy } from "../../src/schema/tool.ts";
import { play, type Run } from "./support/run.ts";
import { calls, type Reply, says, TOOLS, usageOf } from "./support/script.ts";

// Limits are checked before a turn: the calls that an answer has made all have their results, however many there are.

const FIVE: Reply = {
  ...calls("bash", "edit", "read", "bash", "edit"),
  usage: usageOf(60, 40),
  costUsd: 0.4,
};
const NAMES = ["bash", "edit", "read", "bash", "edit"];

const results = (run: Run) => run.lines.slice(2, -1).map((line) => line.split(":")[0]);

describe("limits under parallel calls", () => {
  test.each<[keyof Limits, number, string]>([
    ["maxTurns", 1, "Max turns reached (1/1)"],
    ["maxTotalTokens", 100, "Max tokens reached (100/100)"],
    ["maxDurationMs", 10_000, "Max duration reached (10s/10s)"],
    ["maxCostUsd", 0.4, "Max cost reached ($0.4000/$0.4000)"],
  ])(
    "%s, reached by an answer with five calls: each has its result, in call order, and no turn follows [LIM-02.2, LIM-03.3, LOOP-12.3, TOOL-08.1-2]",
    async (name, limit, reason) => {
      const run = await play({ limits: { [name]: limit }, replies: [FIVE, says("never")] }).until(
        "call-tools",
      );
      expect(run.running).toEqual([0, 1, 2, 3, 4]);
      await run.pass(10_000).tool(4).tool(2).tool(3).tool(0).tool(1).settle();
      expect(results(run)).toEqual(NAMES);
      expect(run.executed).toHaveLength(5);
      expect(run.asked).toHaveLength(1);
      expect(run.lines.at(-1)).toBe(`machine: [Agent stopped: ${reason}]`);
      expect(run.state.last?.outcome).toEqual({ type: "limit-reached", reason });
    },
  );

  test.each<[string, ToolStrategy, number[]]>([
    ["one after another", { type: "sequential" }, [0]],
    ["in batches of two", { type: "batched", size: 2 }, [0, 1]],
  ])(
    "a limit that is reached between calls that run %s ends none of them [LIM-02.2]",
    async (_how, strategy, first) => {
      const run = await play({ strategy, limits: { maxDurationMs: 1000 }, replies: [FIVE] }).until(
        "call-tools",
      );
      expect(run.running).toEqual(first);
      await run.pass(60_000).settle();
      expect(results(run)).toEqual(NAMES);
      expect(run.executed).toHaveLength(5);
      expect(run.lines.at(-1)).toContain("Max duration reached (60s/1s)");
    },
  );

  test("a limit that is raised while calls run lets the loop continue after them", async () => {
    const run = await play({ limits: { maxTurns: 1 }, replies: [FIVE, says("done")] }).until("call-tools");
    await run
      .tool(3)
      .tell({ type: "limits-raised", limits: { maxTurns: 2 } })
      .tool(0)
      .tool(1)
      .tool(4)
      .tool(2)
      .settle();
    expect(results(run)).toEqual(NAMES);
    expect(run.lines.at(-1)).toBe("model: done");
  });

  test("time counts once for calls that run together, not once for each [LIM-02.1]", async () => {
    const run = await play({ limits: { maxDurationMs: 10_000 }, replies: [FIVE, says("done")] }).until(
      "call-tools",
    );
    for (const call of [0, 1, 2, 3, 4]) await run.pass(1900).tool(call);
    await run.settle();
    expect(run.lines.at(-1)).toBe("model: done");
  });
});

describe("limits under parallel sub-agents", () => {
  const scouts = (count: number) => calls(...Array.from({ length: count }, () => "scout"));
  const sharesOf = (run: Run) =>
    (run.command as CallToolsCommand).calls.map(({ child }) => child?.allocation.tokens ?? 0);
  const spent = (tokens: number) => ({ used: { turns: 1, tokens, nanoUsd: 0, children: 0 } });

  test("the shares of sub-agents that start together never add up to more than what is left [SUB-03.3]", async () => {
    const limits = { maxTotalTokens: 1000 };
    const run = await play({ limits, replies: [{ ...scouts(4), usage: usageOf(150, 50) }] }).until(
      "call-tools",
    );
    // One share of the 800 stays with their caller.
    expect(sharesOf(run)).toEqual([160, 160, 160, 160]);
  });

  test("what they do not use comes back, in whatever order they end, and is shared out again [SUB-03.3]", async () => {
    const limits = { maxTotalTokens: 1000 };
    const free = { usage: usageOf(0, 0) };
    const replies = [{ ...scouts(4), ...free }, { ...scouts(1), ...free }, says("done")];
    const run = await play({ limits, replies }).until("call-tools");
    expect(sharesOf(run)).toEqual([200, 200, 200, 200]);
    await run
      .child(3, spent(200))
      .child(0, spent(10))
      .child(2, spent(90))
      .child(1, spent(100))
      .until("call-tools");
    // 600 are left, and half of them stay with the caller.
    expect(sharesOf(run)).toEqual([300]);
    await run.child(0, spent(0)).settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("together they reach their caller's limit: all their results are recorded, in call order, and no turn follows", async () => {
    const limits = { maxTotalTokens: 500 };
    const names = ["ada", "ben", "cleo", "dan"];
    const tools = Object.fromEntries(names.map((name) => [name, TOOLS["scout"]!]));
    const replies = [{ ...calls(...names), usage: usageOf(60, 40) }, says("never")];
    const run = await play({ limits, tools, replies }).until("call-tools");
    expect(sharesOf(run)).toEqual([80, 80, 80, 80]);
    await run.child(2, spent(100)).child(3, spent(100)).child(1, spent(100)).child(0, spent(100)).settle();
    expect(results(run)).toEqual(names);
    expect(run.lines.at(-1)).toContain("[Agent stopped: Budget of tokens reached");
    expect(run.asked).toHaveLength(1);
    expect(run.state.last?.outcome.type).toBe("limit-reached");
  });
});
