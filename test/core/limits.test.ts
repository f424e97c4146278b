import { describe, expect, test } from "vitest";
import { findReachedLimit } from "../../src/core/budget/limits.ts";
import { formatDashboard } from "../../src/core/machine/dashboard.ts";
import type { CallModelCommand } from "../../src/core/machine/state/activity-command.ts";
import { buildStatus } from "../../src/core/machine/status.ts";
import type { Limits } from "../../src/schema/limits.ts";
import { play, type Run } from "./support/run.ts";
import { calls, NO_LIMITS, says, usageOf } from "./support/script.ts";

const forever = Array.from({ length: 60 }, () => calls("bash"));

/** The next answer is from a fallback model whose price is unknown. */
async function answerUnpriced(run: Run): Promise<Run> {
  await run.until("call-model");
  const told = await run.perform(run.command as CallModelCommand);
  if (told.type !== "model-replied") throw new Error(told.type);
  return run.tell({ ...told, digest: { ...told.digest, costUsd: null } });
}

describe("limits", () => {
  test("of two turns stop the loop after exactly two model calls, and the last message names the limit [LIM-03.2-3, LOOP-12.2-3, X-38.1-2]", async () => {
    const run = await play({ limits: { maxTurns: 2 }, replies: forever }).settle();
    expect(run.asked).toHaveLength(2);
    expect(run.lines.at(-1)).toBe("machine: [Agent stopped: Max turns reached (2/2)]");
    expect(run.state.last?.outcome).toEqual({ type: "limit-reached", reason: "Max turns reached (2/2)" });
    expect(run.eventLines().slice(-4)).toEqual([
      "TurnEnd 1 at 3 with 1",
      "MessageStart 5",
      "MessageEnd 5",
      "AgentEnd limit-reached 0..6",
    ]);
  });

  test("are not reached by an answer in the last allowed turn [LIM-03.2]", async () => {
    const run = await play({ limits: { maxTurns: 1 } }).settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("on tokens count the input and output of all turns [LOOP-19, LIM-02.1-2, LIM-04.3]", async () => {
    const usage = { ...usageOf(60, 40), reasoning: 30, cacheRead: 1000, cacheWrite: 1000, totalTokens: 9999 };
    const replies = forever.map((reply) => ({ ...reply, usage }));
    const run = await play({ limits: { maxTotalTokens: 250 }, replies }).settle();
    expect(run.asked).toHaveLength(3);
    expect(run.lines.at(-1)).toBe("machine: [Agent stopped: Max tokens reached (300/250)]");
    expect((await play({ limits: { maxTotalTokens: 200 }, replies }).settle()).asked).toHaveLength(2);
  });

  test("on tool calls count every call of the loop, also denied ones, and end it before the next answer", async () => {
    const three = { ...calls("bash", "bash", "read_file") };
    const run = await play({ limits: { maxToolCalls: 5 }, replies: [three, three, three] }).settle();
    expect(run.asked).toHaveLength(2);
    expect(run.lines.at(-1)).toBe("machine: [Agent stopped: Max tool calls reached (6/5)]");
    const denied = await play({
      limits: { maxToolCalls: 2 },
      replies: forever,
      permissions: { rules: [], otherwise: "deny" },
    }).settle();
    expect(denied.asked).toHaveLength(2);
    const next = await play({
      prompts: ["again"],
      limits: { maxToolCalls: 1 },
      replies: [says("done")],
    }).settle();
    expect(next.state.last?.outcome.type).toBe("answered");
  });

  test("a definition of an older release lacks newer limits, which then are disabled", () => {
    const { maxToolCalls: _, ...older } = NO_LIMITS;
    const spent = { turns: 1, tokens: 1, durationMs: 1, costUsd: 0, toolCalls: 1_000 };
    expect(findReachedLimit(older as Limits, spent)).toBeUndefined();
  });

  test("on duration count from the opening of the loop [LIM-02.1-2]", async () => {
    const run = await play({ limits: { maxDurationMs: 10_000 }, replies: forever })
      .pass(50_000)
      .until("call-model");
    expect((await run.pass(9_000).step()).phase).toBe("calling-tools");
    await run.step();
    expect(run.phase).toBe("calling-model");
    await run.pass(2_500).step().settle();
    expect(run.lines.at(-1)).toBe("machine: [Agent stopped: Max duration reached (11s/10s)]");
  });

  describe("time spent only waiting for the user", () => {
    const asked = {
      limits: { maxDurationMs: 10_000 },
      permissions: { rules: [{ tool: "bash", outcome: "ask" as const }] },
      replies: [calls("bash", "edit"), says("done")],
    };

    test("is not counted", async () => {
      const run = await play(asked).until("call-tools");
      await run.tool(1).until("wait").pass(86_400_000).answer("c0.0").settle();
      expect(run.state.last?.outcome.type).toBe("answered");
    });

    test("is counted when the definition says so", async () => {
      const run = await play({ ...asked, waitingCounts: true }).until("call-tools");
      await run.tool(1).until("wait").pass(20_000).answer("c0.0").settle();
      expect(run.lines.at(-1)).toContain("Max duration reached (20s/10s)");
    });

    test("excludes time during another call and time after the answer, which are counted", async () => {
      const beside = await play(asked).until("call-tools");
      await beside.pass(11_000).tool(1).until("wait").answer("c0.0").settle();
      expect(beside.lines.at(-1)).toContain("Max duration reached (11s/10s)");
      const behind = await play(asked).until("call-tools");
      await behind.tool(1).until("wait").pass(30_000).answer("c0.0").pass(12_000).settle();
      expect(behind.lines.at(-1)).toContain("Max duration reached (12s/10s)");
    });
  });

  test("on cost count the sum of all answers [LIM-02.1-2, LIM-05.2]", async () => {
    const replies = forever.map((reply) => ({ ...reply, costUsd: 0.4 }));
    const run = await play({ limits: { maxCostUsd: 1 }, replies }).settle();
    expect(run.asked).toHaveLength(3);
    expect(run.lines.at(-1)).toBe("machine: [Agent stopped: Max cost reached ($1.2000/$1.0000)]");
  });

  test("on cost are never reached with a free model, as only its own prices count [X-36.2]", async () => {
    const run = await play({ limits: { maxCostUsd: 0.0001 }, replies: forever.slice(0, 10) }).settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("on cost end the loop after an answer whose price is unknown, as they cannot be enforced", async () => {
    const replies = forever.map((reply) => ({ ...reply, costUsd: 0.1 }));
    const run = await play({ limits: { maxCostUsd: 100 }, replies })
      .until("call-model")
      .step();
    await (await answerUnpriced(run)).settle();
    expect(run.asked).toHaveLength(2);
    expect(run.state.last?.outcome).toMatchObject({
      type: "limit-reached",
      reason: "Max cost cannot be enforced: the amount spent is unknown (—/$100.0000)",
    });
  });

  test("a sum of costs with an unknown one is unknown, never 0", async () => {
    const replies = [{ ...calls("bash"), costUsd: 0.5 }, says("end")];
    const run = await play({ replies }).until("call-model").step();
    await (await answerUnpriced(run)).settle();
    expect(buildStatus(run.state).costUsd).toBeNull();
    expect(formatDashboard(run.state)).toContain("- **Cost**: —");
    expect(run.commands.at(-1)).toMatchObject({ type: "close-loop", costUsd: null });
  });

  test("that are not set never stop a run [LIM-01.2]", async () => {
    const run = play({
      replies: forever.map((reply) => ({ ...reply, usage: usageOf(1e6, 1e6), costUsd: 100 })),
    });
    expect((await run.pass(1e9).settle()).asked).toHaveLength(61);
  });

  test("count each loop separately [LIM-02.1]", async () => {
    const run = play({
      mode: "interactive",
      limits: { maxTurns: 2 },
      replies: [calls("bash"), says("a"), calls("bash"), says("b")],
    });
    await run.settle().prompt("more").settle();
    expect(run.lines.at(-1)).toBe("model: b");
    expect(run.state.totals).toMatchObject({ loops: 2, turns: 4 });
  });

  describe("that an operator raises", () => {
    const raise = (run: Run, limits: Partial<Limits>) => run.tell({ type: "limits-raised", limits });

    test("let the loop continue up to the new values; the other limits stay", async () => {
      const limits = { maxTurns: 1, maxDurationMs: 600_000 };
      const run = await raise(await play({ limits, replies: forever }).until("call-model"), {
        maxTurns: 3,
      }).settle();
      expect(run.asked).toHaveLength(3);
      expect(run.lines.at(-1)).toContain("Max turns reached (3/3)");
      expect(run.state.pinned?.limits).toEqual({ ...NO_LIMITS, maxTurns: 3, maxDurationMs: 600_000 });
    });

    test("return to the definition's values in the next loop", async () => {
      const run = await play({ limits: { maxTurns: 1 }, replies: forever, mode: "interactive" }).until(
        "call-model",
      );
      await raise(run, { maxTurns: 2 }).settle();
      expect(run.asked).toHaveLength(2);
      await run.prompt("again").settle();
      expect(run.asked).toHaveLength(3);
    });

    test("change nothing before the loop has opened", async () => {
      const run = play({ limits: { maxTurns: 1 }, replies: forever });
      await raise(run, { maxTurns: 3 }).settle();
      expect(run.asked).toHaveLength(1);
    });
  });

  test("move messages that are still queued to the inbox [PHI-13b, X-02.3]", async () => {
    const run = await play({ limits: { maxTurns: 1 }, replies: forever })
      .until("call-tools")
      .steer("one")
      .followUp("two");
    await run.settle();
    expect(run.lines.slice(-2)).toEqual([
      "bash: bash ok",
      "machine: [Agent stopped: Max turns reached (1/1)]",
    ]);
    expect(run.inboxTexts).toEqual(["one", "two"]);
    expect(run.state.last?.outcome.type).toBe("limit-reached");
  });

  test("leave a message that the model sees when the session continues [PHI-13h]", async () => {
    const run = await play({
      mode: "interactive",
      limits: { maxTurns: 1 },
      replies: [calls("bash")],
    }).settle();
    expect(run.lines).toHaveLength(4);
    await run.prompt("go on").until("call-model");
    expect(run.command).toMatchObject({ view: { ranges: [{ from: 0, to: 5 }] }, position: 5 });
  });

  test("let an interactive run answer waiting steering in a new loop [PHI-13b]", async () => {
    const run = play({ mode: "interactive", limits: { maxTurns: 1 }, replies: [calls("bash")] });
    await run.until("call-tools").steer("go on").settle();
    expect(run.command.type).toBe("wait");
    expect(run.lines.slice(-3)).toEqual([
      "machine: [Agent stopped: Max turns reached (1/1)]",
      "steering: go on",
      "model: done",
    ]);
  });

  test("start no loop for waiting follow-ups; the next prompt's loop delivers them one at a time", async () => {
    const run = play({ mode: "interactive", limits: { maxTurns: 1 }, replies: [calls("bash")] });
    await run.until("call-tools").followUp("a").followUp("b").settle();
    expect(run.command.type).toBe("wait");
    expect(run.lines.at(-1)).toBe("machine: [Agent stopped: Max turns reached (1/1)]");
    expect(run.state.queues.followUps).toHaveLength(2);
    await run.prompt("go on").until("call-model");
    await run.tell({ type: "limits-raised", limits: { maxTurns: 10 } }).settle();
    expect(run.lines.slice(-6)).toEqual([
      "prompt: go on",
      "model: done",
      "follow-up: a",
      "model: done",
      "follow-up: b",
      "model: done",
    ]);
  });

  test("several messages that arrive too late for a loop: the next one begins with as many as a poll delivers [STEER-02.1-2]", async () => {
    const late = async (modes: { steeringMode?: "all"; followUpMode?: "all" }) => {
      const run = await play({ mode: "interactive", ...modes }).until("close-loop");
      return (await run.steer("s1").steer("s2").followUp("f1").followUp("f2").settle()).lines.slice(2);
    };
    expect(await late({})).toEqual([
      "steering: s1",
      "model: done",
      "steering: s2",
      "model: done",
      "follow-up: f1",
      "model: done",
      "follow-up: f2",
      "model: done",
    ]);
    expect((await late({ steeringMode: "all" })).slice(0, 3)).toEqual([
      "steering: s1",
      "steering: s2",
      "model: done",
    ]);
  });

  test("are checked before the turn's first event [LOOP-12.1, X-02.1]", async () => {
    const run = await play({ limits: { maxTurns: 1 }, replies: forever }).settle();
    expect(run.eventLines().filter((line) => line.startsWith("TurnStart"))).toHaveLength(1);
  });
});

test("the message of each limit, and the order in which limits are checked [LIM-03.1, X-20]", () => {
  const spent = { turns: 50, tokens: 7, durationMs: 61_999, costUsd: 0.12345, toolCalls: 4 };
  const reason = (limits: object) => findReachedLimit({ ...NO_LIMITS, ...limits }, spent);
  expect(reason({})).toBeUndefined();
  expect(
    reason({ maxTurns: 51, maxTotalTokens: 8, maxDurationMs: 62_000, maxCostUsd: 0.13, maxToolCalls: 5 }),
  ).toBeUndefined();
  expect(reason({ maxTurns: 50 })).toBe("Max turns reached (50/50)");
  expect(reason({ maxTotalTokens: 7 })).toBe("Max tokens reached (7/7)");
  expect(reason({ maxDurationMs: 61_999 })).toBe("Max duration reached (61s/61s)");
  expect(reason({ maxCostUsd: 0.1 })).toBe("Max cost reached ($0.1235/$0.1000)");
  expect(reason({ maxToolCalls: 4 })).toBe("Max tool calls reached (4/4)");
  expect(reason({ maxTurns: 1, maxTotalTokens: 1 })).toMatch(/^Max turns/);
});
