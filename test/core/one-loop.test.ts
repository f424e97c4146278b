import { describe, expect, test } from "vitest";
import { buildAllowance } from "../../src/core/budget/amounts.ts";
import { NO_USAGE } from "../../src/core/budget/usage.ts";
import { apply } from "../../src/core/machine/apply.ts";
import { next } from "../../src/core/machine/next.ts";
import { play, type Run } from "./support/run.ts";
import { calls, NO_LIMITS, says, usageOf } from "./support/script.ts";

const types = (run: Run) => run.commands.map(({ type }) => type);

describe("a prompt and a turn limit", () => {
  test("are all that a machine needs, and it ends at that limit [RIG-06.1]", async () => {
    const replies = [calls("bash"), calls("bash"), calls("bash"), says("done")];
    const bounded = await play({ prompts: ["hi"], limits: { ...NO_LIMITS, maxTurns: 2 }, replies }).settle();
    expect(bounded.asked).toHaveLength(2);
    expect(bounded.state.last?.outcome.type).toBe("limit-reached");
    expect(
      (await play({ prompts: ["hi"], limits: { ...NO_LIMITS, maxTurns: 4 }, replies }).settle()).state.last,
    ).toMatchObject({ outcome: { type: "answered" } });
  });

  test("drive the same machine when the prompt arrives later, at a waiting run [RIG-06.2]", async () => {
    const replies = [calls("bash"), says("done")];
    const started = await play({ prompts: ["hi"], replies }).settle();
    const prompted = await play({ prompts: [], mode: "interactive", replies }).settle().prompt("hi").settle();
    expect(types(prompted).filter((type) => type !== "wait")).toEqual(types(started));
    expect(prompted.eventLines()).toEqual(started.eventLines());
    expect(prompted.lines).toEqual(started.lines);
  });
});

describe("one loop for three consumers", () => {
  const replies = [calls("bash", "read"), says("well"), says("end")];
  const share = buildAllowance(NO_LIMITS, { maxDepth: 1, maxChildren: null }, 1000);
  const consumers = {
    program: () => play({ prompts: ["hi"], replies }),
    chat: () => play({ prompts: ["hi"], replies, mode: "interactive" }),
    job: () => play({ prompts: ["hi"], replies, share }),
  };
  const played = async (start: () => Run) =>
    await start().until("call-tools").steer("faster").followUp("more").settle();

  test("a program, a chat and a part of a job give the same requests, messages and events [IRON-01]", async () => {
    const program = await played(consumers.program);
    expect(program.lines).toHaveLength(8);
    for (const start of [consumers.chat, consumers.job]) {
      const other = await played(start);
      expect(other.lines).toEqual(program.lines);
      expect(other.eventLines()).toEqual(program.eventLines());
      expect(other.asked.map(({ view }) => view)).toEqual(program.asked.map(({ view }) => view));
      expect(types(other)).toEqual(types(program));
    }
  });

  test("they differ in what follows the loop: an end, the next prompt, or a report [IRON-01]", async () => {
    const [program, chat, job] = await Promise.all(Object.values(consumers).map(played));
    expect(program?.command).toMatchObject({ type: "finish", last: { outcome: { type: "answered" } } });
    expect(program?.command).not.toHaveProperty("report");
    expect(chat?.command).toEqual({ type: "wait", untilMs: undefined });
    expect(job?.command).toMatchObject({
      type: "finish",
      report: { session: "s", outcome: { type: "answered" }, used: { turns: 3 } },
    });
  });

  test("what a consumer does itself is a hook or a step; the loop between them is the same [IRON-01]", async () => {
    const hooks = ["before-turn", "before-tool", "after-turn", "on-text"] as const;
    const plain = await played(consumers.program);
    const hooked = await played(() => play({ prompts: ["hi"], replies, hooks }));
    expect(types(hooked).filter((type) => type !== "run-hook")).toEqual(types(plain));
    expect(types(hooked)).toContain("run-hook");
    expect(hooked.lines).toEqual(plain.lines);
    expect(hooked.eventLines()).toEqual(plain.eventLines());
  });
});

describe("the order within a turn", () => {
  test("tools run before TurnEnd; steering is read at the entry, after tools and at the turn's end, and is appended [X-07.1-2]", async () => {
    const run = play({
      replies: [calls("bash"), says("well"), says("end")],
      held: true,
    });
    run.steer("at the entry");
    run.tell({ type: "started" });
    await run.until("call-tools").steer("behind tools");
    await run.until("call-model").steer("at the end").settle();
    expect(run.lines).toEqual([
      "steering: at the entry",
      "prompt: hi",
      "model: calling +bash",
      "bash: bash ok",
      "steering: behind tools",
      "model: well",
      "steering: at the end",
      "model: end",
    ]);
    const lines = run.eventLines();
    const at = (line: string) => lines.findIndex((one) => one.startsWith(line));
    expect(at("ToolExecutionEnd bash")).toBeLessThan(at("TurnEnd 0"));
    expect(at("ToolExecutionStart bash")).toBeGreaterThan(at("TurnStart 0"));
    expect(lines.filter((line) => line.startsWith("TurnEnd"))).toHaveLength(3);
  });
});

describe("the counters of a loop", () => {
  test("are reset with each loop: usage, turns and context size [CTX-06]", async () => {
    const replies = [{ ...calls("bash"), usage: usageOf(900, 50) }, says("one", { usage: usageOf(900, 5) })];
    const run = await play({ mode: "interactive", replies }).settle();
    expect(run.state.reportedSize).toBeDefined();
    await run.prompt("more").until("call-model");
    expect(run.state.reportedSize).toBeUndefined();
    expect(run.state.loop).toMatchObject({ turn: 0, usage: NO_USAGE, turnUsage: NO_USAGE, costUsd: 0 });
    expect(run.state.loop?.startedAtMs).toBe(run.state.nowMs);
  });
});

describe("a loop's context", () => {
  test("is plain data: a copy changes independently, with the same tools, and leaves the original unchanged [TYP-19.1-2]", async () => {
    const run = await play({ replies: [calls("bash"), says("end")] }).until("call-tools");
    const { state } = run;
    expect(state).toMatchObject({
      session: "s",
      loop: { loopId: "s.test.1", kind: { type: "initial" } },
      view: { branch: "main" },
      pinned: { definitionHash: expect.any(String), tools: expect.anything() },
    });
    const copy = structuredClone(state);
    const before = JSON.stringify(state);
    expect(copy).toEqual(state);
    expect(JSON.parse(before)).toEqual(state);
    const stopped = apply(copy, { type: "stop-requested", reason: "enough", atMs: state.nowMs });
    expect(stopped.stop).toBeDefined();
    expect(JSON.stringify(state)).toBe(before);
    expect(next(state)).toEqual(next(JSON.parse(before)));
    expect(stopped.pinned?.tools).toEqual(state.pinned?.tools);
    expect((await run.settle()).lines.at(-1)).toBe("model: end");
  });
});
