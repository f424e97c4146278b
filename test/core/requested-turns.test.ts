import { describe, expect, test } from "vitest";
import { parseCall } from "../../src/activities/model/read-call.ts";
import { getRequestedTurns } from "../../src/core/machine/requested-turns.ts";
import type { CallToolsCommand } from "../../src/core/machine/state/command.ts";
import type { ToolFacts } from "../../src/core/machine/state/digest.ts";
import { SubAgentLimits } from "../../src/schema/limits.ts";
import { createSubAgentTool } from "../../src/tools/builtin/sub-agent-tool.ts";
import { play, type Run } from "./support/run.ts";
import { calls, type Reply, says } from "./support/script.ts";

const limits = SubAgentLimits.parse({ maxTurns: 20 });
const facts = { definitionHash: "of its own", limits, acceptsMaxTurns: true } as const;
const scout: ToolFacts = { replay: "idempotent", quick: false, child: facts };

const call = (maxTurns?: unknown) => ({
  name: "scout",
  arguments: { task: "Look.", ...(maxTurns === undefined ? {} : { max_turns: maxTurns }) },
});
const started = async (reply: Reply, maxTurns: number, tools = { scout }) =>
  await play({ tools, limits: { maxTurns }, replies: [reply, says("done")] }).until("call-tools");
const listChildren = (run: Run) => (run.command as CallToolsCommand).calls.map(({ child }) => child);

describe("the tool of a sub-agent", () => {
  const accepting = createSubAgentTool({ name: "scout", description: "", acceptsMaxTurns: true });

  test("has an optional whole number max_turns where the definition accepts it, and no bounds that refuse a call [IRIS-24]", () => {
    expect(accepting.parameters).toMatchObject({
      required: ["task"],
      properties: { max_turns: { type: "integer", description: expect.stringContaining("1 to 100") } },
    });
    expect(JSON.stringify(accepting.parameters)).not.toMatch(/minimum|maximum/);
    const other = createSubAgentTool({ name: "scout", description: "" });
    expect(JSON.stringify(other.parameters)).not.toContain("max_turns");
  });

  test.each([
    [undefined, undefined],
    [7, 7],
    [0, 1],
    [-3, 1],
    [2.9, 2],
    [101, 100],
    [1e300, 100],
  ])("with max_turns %s requests %s turns [IRIS-24]", (given, clamped) => {
    const { arguments: args } = call(given);
    const { digest } = parseCall({ type: "toolCall", id: "c", name: "scout", arguments: args }, [accepting]);
    expect(digest.invalidReason).toBeUndefined();
    expect(digest.maxTurns).toBe(clamped);
  });

  test("requests nothing where the definition does not accept it", () => {
    const other = createSubAgentTool({ name: "scout", description: "" });
    const { arguments: args } = call(7);
    const { digest } = parseCall({ type: "toolCall", id: "c", name: "scout", arguments: args }, [other]);
    expect(digest).not.toHaveProperty("maxTurns");
    expect(getRequestedTurns({ maxTurns: 7 }, { definitionHash: "h", limits })).toBeUndefined();
  });
});

describe("a call that sets max_turns", () => {
  test("has that share and that limit, below and above the sub-agent's own [IRIS-24]", async () => {
    const run = await started(calls(call(1), call(), call(60)), 1000);
    expect(listChildren(run)).toMatchObject([
      { allocation: { turns: 1 }, maxTurns: 1 },
      { allocation: { turns: 20 } },
      { allocation: { turns: 60 }, maxTurns: 60 },
    ]);
    expect(listChildren(run)[1]).not.toHaveProperty("maxTurns");
  });

  test("has no more than a fair share of what is left [IRIS-24] [SUB-03.3]", async () => {
    const run = await started(calls(call(60), call(60)), 14);
    expect(listChildren(run).map((child) => child?.allocation.turns)).toEqual([4, 4]);
  });

  test("sets the limit of the loop of its sub-agent [IRIS-24]", async () => {
    const run = play({ tools: { scout }, replies: [calls(call(1)), says("done")] });
    await run.until("call-tools");
    await run.settle();
    const { loop, pinned } = run.stage.subAgents[0]?.stage.machine.state ?? {};
    expect([loop, pinned?.limits.maxTurns]).toEqual([undefined, 1]);
  });

  test("has the turns that the user sets in its place, and its own when they set none", () => {
    expect(getRequestedTurns({ maxTurns: 7, changedArguments: { max_turns: 500 } }, facts)).toBe(100);
    expect(
      getRequestedTurns({ maxTurns: 7, changedArguments: { max_turns: "many" } }, facts),
    ).toBeUndefined();
    expect(getRequestedTurns({ maxTurns: 7, changedArguments: { task: "Another." } }, facts)).toBeUndefined();
  });
});
