import { describe, expect, test } from "vitest";
import { formatDashboard } from "../../src/core/machine/dashboard.ts";
import type { CallToolsCommand } from "../../src/core/machine/state/command.ts";
import type { HookResult, ToolFacts } from "../../src/core/machine/state/digest.ts";
import { buildStatus } from "../../src/core/machine/status.ts";
import { SubAgentLimits } from "../../src/schema/limits.ts";
import { play, type Run } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const limits = SubAgentLimits.parse({});
const agent: ToolFacts = {
  replay: "idempotent",
  quick: false,
  child: { definitionHash: "of its own", limits },
};
const tool: ToolFacts = { replay: "unsafe", quick: false };
const tools = { scout: agent, writer: agent, edit: tool };

function delegating(...names: string[]): Run {
  return play({ tools, replies: [calls(...names), says("done")] });
}
const called = (run: Run) => (run.command as CallToolsCommand).calls;
const texts = (run: Run) => run.lines.slice(2);

describe("a call whose tool is an agent", () => {
  test("becomes a separate run with a share of the remaining budget; its answer is the call's result [SUB-03.1, SUB-05.1]", async () => {
    const run = await delegating("scout").until("call-tools");
    expect(called(run)[0]?.child).toMatchObject({
      definitionHash: "scout",
      allocation: { turns: 10, tokens: 1_000_000, children: 0, depth: 0 },
    });
    await run.settle();
    expect(texts(run)).toEqual(["scout: done", "model: done"]);
    expect(run.state.loop).toBeUndefined();
  });

  test("contains the session of the sub-agent after it has started", async () => {
    const run = await delegating("scout").until("call-tools");
    await run.tell({ type: "child-started", call: 0, session: "s.sub-1" });
    expect(called(run)[0]?.child?.session).toBe("s.sub-1");
  });

  test("has pending events recorded while it runs, once", async () => {
    const run = await delegating("scout", "writer").until("call-tools");
    const { recordCommand } = run.command as CallToolsCommand;
    expect(recordCommand?.outbox.events.map(({ body }) => body.type)).toContain("ToolExecutionStart");
    await run.tell(await run.perform(recordCommand!));
    expect(run.command).not.toHaveProperty("recordCommand");
    await run.child(0);
    expect(run.command).not.toHaveProperty("recordCommand");
    await run.settle();
  });

  test("next to other tools leaves the outbox to them; results stay in call order [TOOL-08.2]", async () => {
    const run = await delegating("scout", "edit", "writer").until("call-tools");
    expect(run.command).not.toHaveProperty("recordCommand");
    await run.child(2).tool(1).child(0).settle();
    expect(texts(run).map((line) => line.split(":")[0])).toEqual(["scout", "edit", "writer", "model"]);
  });

  test.each([
    [{ type: "failed", fault: "auth", message: "no key" } as const, "The sub-agent failed: auth: no key"],
    [{ type: "stopped", reason: "enough" } as const, "The sub-agent was stopped: enough"],
    [{ type: "rejected", reason: "rude" } as const, "The task was rejected: rude"],
    [
      { type: "ended", by: "guard", reason: "late" } as const,
      'The sub-agent was ended by hook "guard": late',
    ],
  ])(
    "that does not answer has an error result with the reason [SUB-06, TOOL-16.7, SUB-05.3]",
    async (outcome, words) => {
      const run = await delegating("scout").until("call-tools").child(0, { outcome }).settle();
      const result = run.transcript.listEntries("main")[2]?.message;
      expect(result).toMatchObject({
        role: "toolResult",
        isError: true,
        details: { sub_agent: "scout", turns: 2 },
      });
      expect(texts(run)[0]).toContain(words);
    },
  );

  test("whose answer has no text has a result that says so [SUB-05.2]", async () => {
    const run = await delegating("scout").until("call-tools").child(0).settle();
    expect(texts(run)[0]).toBe("scout: (sub-agent produced no text output)");
    expect(run.transcript.listEntries("main")[2]?.message).toMatchObject({ isError: false });
  });

  test("that reaches a limit has a result, not an error, that names the limit", async () => {
    const outcome = { type: "limit-reached", reason: "Max turns reached (10/10)" } as const;
    const run = await delegating("scout").until("call-tools").child(0, { outcome }).settle();
    expect(run.transcript.listEntries("main")[2]?.message).toMatchObject({ isError: false });
    expect(texts(run)[0]).toContain("[Sub-agent stopped: Max turns reached (10/10)]");
  });

  test("that is lost has an error result; a second report of the loss is ignored", async () => {
    const run = await delegating("scout", "writer").until("call-tools");
    await run.tell({ type: "child-lost", call: 0, reason: "it was terminated" });
    const { state } = run;
    await run.tell({ type: "child-lost", call: 0, reason: "it was terminated" });
    expect({ ...run.state, nowMs: 0 }).toEqual({ ...state, nowMs: 0 });
    await run.child(1).settle();
    expect(texts(run)[0]).toContain("ended without a result: it was terminated");
  });

  test("still has its result recorded after a stop, and no turn follows [ABT-01.3]", async () => {
    const run = await delegating("scout").until("call-tools").stop("enough");
    await run.child(0, { outcome: { type: "stopped", reason: "enough" } }).settle();
    expect(texts(run)).toHaveLength(1);
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
  });
});

describe("the budget of sub-agents", () => {
  test("is a share of what their caller has left, reduced by what earlier ones used [SUB-03.3]", async () => {
    const run = play({
      tools,
      limits: { maxTurns: 6 },
      replies: [calls("scout"), calls("scout"), says("done")],
    });
    await run.until("call-tools");
    expect(called(run)[0]?.child?.allocation.turns).toBe(2);
    await run.child(0, { used: { turns: 1, tokens: 10, nanoUsd: 0, children: 0 } }).until("call-tools");
    expect(called(run)[0]?.child?.allocation.turns).toBe(1);
    await run.child(0, { used: { turns: 1, tokens: 10, nanoUsd: 0, children: 0 } }).settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("is divided among those that begin together, without those that begin later or never [SUB-03.3]", async () => {
    const setting = { tools, limits: { maxTurns: 14 }, replies: [calls("scout", "writer"), says("done")] };
    const together = await play(setting).until("call-tools");
    expect(called(together).map(({ child }) => child?.allocation.turns)).toEqual([4, 4]);
    const inTurn = await play({ ...setting, strategy: { type: "sequential" } }).until("call-tools");
    expect(called(inTurn).map(({ child }) => child?.allocation.turns)).toEqual([6]);
    const no = { type: "no", hook: "guard", reason: "not now" } as const;
    const words = (): readonly HookResult[] => [no, { type: "yes" }];
    const refused = await play({ ...setting, hooks: ["before-tool"], words }).until("call-tools");
    expect(called(refused).map(({ child }) => child?.allocation.turns)).toEqual([6]);
    const permissions = { rules: [{ tool: "scout", outcome: "ask" as const }] };
    const asking = await play({ ...setting, permissions }).until("call-tools");
    expect(called(asking).map(({ child }) => child?.allocation.turns)).toEqual([6]);
  });

  test("ends the caller's loop with a message when they have used all of it [SUB-03.3]", async () => {
    const run = play({ tools, limits: { maxTotalTokens: 1000 }, replies: [calls("scout"), says("never")] });
    await run
      .until("call-tools")
      .child(0, { used: { turns: 1, tokens: 1000, nanoUsd: 0, children: 0 } })
      .settle();
    expect(run.state.last?.outcome).toMatchObject({ type: "limit-reached" });
    expect(run.lines.at(-1)).toContain("Budget of tokens reached");
  });

  test("prevents their start when too little remains, and the model receives the reason", async () => {
    const run = play({ tools, limits: { maxTurns: 2 }, replies: [calls("scout", "writer"), says("done")] });
    await run.settle();
    expect(texts(run).slice(0, 2)).toEqual([
      expect.stringContaining("Not started: too few turns are left"),
      expect.stringContaining("Not started: too few turns are left"),
    ]);
  });
});

describe("time in which a sub-agent waits for a user", () => {
  const waited = { waitedMs: 60_000 };
  const limited = { tools, limits: { maxDurationMs: 30_000 } };
  const ending = async (run: Run) => (await run.settle()).state.last?.outcome.type;

  test("does not count for its caller when it runs alone", async () => {
    const run = await play({ ...limited, replies: [calls("scout"), says("done")] }).until("call-tools");
    expect(await ending(await run.pass(61_000).child(0, waited))).toBe("answered");
  });

  test.each([
    ["the definition says so", { waitingCounts: true }, ["scout"]],
    ["other calls run at the same time", {}, ["scout", "writer"]],
  ])("counts when %s", async (_, setting, names) => {
    const run = play({ ...limited, ...setting, replies: [calls(...names), says("done")] });
    await run.until("call-tools").pass(61_000).child(0, waited);
    expect(await ending(run)).toBe("limit-reached");
  });

  test("is part of the caller's report, and extends the deadline of the caller's share", async () => {
    const share = { turns: null, tokens: null, nanoUsd: null, children: 1, depth: 1 };
    const of = async (waitedMs: number) => {
      const run = play({
        tools,
        share: { ...share, deadlineMs: 90_000 },
        replies: [calls("scout"), says("done")],
      });
      await run.until("call-tools").pass(100_000 - run.now);
      return (await run.child(0, { waitedMs }).settle()).command;
    };
    expect(await of(60_000)).toMatchObject({ report: { outcome: { type: "answered" }, waitedMs: 60_000 } });
    expect(await of(1_000)).toMatchObject({
      report: { outcome: { type: "limit-reached" }, waitedMs: 1_000 },
    });
  });
});

describe("a run that is a sub-agent of another", () => {
  const share = { turns: 2, tokens: null, nanoUsd: null, children: 1, deadlineMs: null, depth: 1 };

  test("ends with a report that includes what its own sub-agents used", async () => {
    const run = play({ tools, share: { ...share, turns: 5 }, replies: [calls("scout"), says("done")] });
    await run.until("call-tools").child(0, { used: { turns: 2, tokens: 10, nanoUsd: 5, children: 0 } });
    await run.settle();
    expect(run.command).toMatchObject({
      type: "finish",
      report: {
        session: "s",
        outcome: { type: "answered" },
        messages: 4,
        used: { turns: 4, nanoUsd: 5, children: 1 },
      },
    });
  });

  test("ends with the outcome limit-reached when its share is used up", async () => {
    const run = play({ tools, share, replies: [calls("edit"), calls("edit"), says("never")] });
    await run.settle();
    expect(run.command).toMatchObject({ report: { outcome: { type: "limit-reached" }, used: { turns: 2 } } });
  });
});

describe("status and dashboard of a run with sub-agents", () => {
  const used = { turns: 2, tokens: 30, nanoUsd: 500_000_000, children: 1 };

  test("show the used, reserved and remaining budget, sub-agents included", async () => {
    const run = play({
      tools,
      limits: { maxTurns: 10, maxCostUsd: 2 },
      replies: [calls("scout", "writer"), says("x")],
    });
    await run.until("call-tools");
    const reserved = buildStatus(run.state).budget?.turns.reserved ?? 0;
    expect(buildStatus(run.state).budget?.turns).toEqual({
      limit: 10,
      used: 0,
      reserved,
      remaining: 10 - reserved,
    });
    run.child(0, { used });
    const { budget } = buildStatus(run.state);
    expect(budget).toMatchObject({
      turns: { used: 2, reserved: reserved / 2 },
      usd: { limit: 2, used: 0.5 },
      children: { limit: 100, used: 2, reserved: 1 },
    });
    await run.child(1).until("call-model");
    expect(formatDashboard(run.state)).toContain(
      "- **Budget**: turns 4 of 10, cost $0.5000 of $2.0000, sub-agents 3 of 100",
    );
    await run.settle();
    expect(buildStatus(run.state).budget).toBeUndefined();
  });

  test("include the cost of sub-agents once they have ended", async () => {
    const run = await play({ tools, replies: [calls("scout"), says("x")] }).until("call-tools");
    expect(buildStatus(run.state).costUsd).toBe(0);
    await run.child(0, { used });
    expect(buildStatus(run.state).costUsd).toBe(0.5);
    expect(formatDashboard(run.state)).toContain("$0.5000, $0.5000 of it by sub-agents");
    await run.settle();
    expect(buildStatus(run.state).costUsd).toBe(0.5);
  });

  test("list running sub-agents first, then ended ones: ten rows and the counts", async () => {
    const many = Array.from({ length: 30 }, () => "scout");
    const run = play({
      tools,
      limits: { maxTurns: 200 },
      replies: [calls(...many), calls("writer", "edit"), says("x")],
    });
    await run.until("call-tools");
    for (let call = 0; call < 30; call += 1) run.child(call, { session: `s.${call}` });
    await run.until("call-tools").tell({ type: "child-started", call: 0, session: "s.writer" });
    const { children } = buildStatus(run.state);
    expect(children).toMatchObject({ running: 1, ended: 30 });
    expect(children?.rows).toHaveLength(10);
    expect(children?.rows[0]).toMatchObject({ session: "s.writer", agent: "writer", status: "running" });
    expect(children?.rows[1]).toMatchObject({ agent: "scout", status: "completed" });
    expect(run.state.endedChildren?.last).toHaveLength(10);
    expect(formatDashboard(run.state)).toContain(
      "- **Sub-agents**: 1 running, 30 ended\n  - writer (running)",
    );
  });
});
