import { describe, expect, test } from "vitest";
import { NO_USAGE } from "../../src/core/budget/usage.ts";
import { play } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

describe("messages that arrive while a loop closes", () => {
  test("go to the inbox in one more step [PHI-13b]", async () => {
    const run = await play().until("close-loop").steer("late").followUp("later");
    await run.step();
    expect(run.command).toMatchObject({ type: "record", inbox: [{ text: "late" }, { text: "later" }] });
    await run.settle();
    expect(run.inboxTexts).toEqual(["late", "later"]);
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("go to the inbox too if they arrive while it is written, until none arrives [PHI-13b]", async () => {
    const run = await play().until("close-loop").steer("a").step().steer("b");
    expect(run.command).toMatchObject({ type: "record", inbox: [{ text: "a" }] });
    await run.step();
    expect(run.command).toMatchObject({ type: "record", inbox: [{ text: "b" }] });
    await run.step().followUp("c");
    expect(run.command).toMatchObject({ type: "record", inbox: [{ text: "c" }] });
    await run.settle();
    expect(run.inboxTexts).toEqual(["a", "b", "c"]);
  });

  test("go to the inbox even if the run has already ended [PHI-13b]", async () => {
    const run = await play().settle();
    expect(run.command.type).toBe("finish");
    await run.steer("very late");
    expect(run.command.type).toBe("record");
    await run.settle();
    expect(run.inboxTexts).toEqual(["very late"]);
  });

  test("do not go to the inbox if the queues are cleared [STEER-03.1]", async () => {
    const run = await play().until("close-loop").steer("a").clear("all").settle();
    expect(run.inboxTexts).toEqual([]);
  });

  test("are answered immediately by an interactive run [STEER-06.6]", async () => {
    const run = await play({ mode: "interactive" })
      .until("close-loop")
      .steer("late")
      .followUp("later")
      .step();
    expect(run.command).toMatchObject({
      type: "open-loop",
      prompts: [{ text: "late", origin: "steering" }],
    });
    await run.settle();
    expect(run.transcript.records).toHaveLength(2);
    expect(run.lines.slice(2)).toEqual(["steering: late", "model: done", "follow-up: later", "model: done"]);
  });

  test("are read from the inbox by the next loop, before its prompt [LOOP-08]", async () => {
    const first = await play().until("close-loop").steer("late").settle();
    const second = await play({ after: first, run: "later", prompts: ["now"] }).settle();
    expect(second.lines.slice(2)).toEqual(["inbox: late", "prompt: now", "model: done"]);
    expect(second.eventLines().slice(0, 6)).toContain("MessageStart 3");
    expect(second.transcript.inbox).toEqual([]);
  });
});

describe("a start without a prompt", () => {
  test("puts the messages sent with it into the inbox, calls no model, and reports them as delivered [PHI-13b]", async () => {
    const run = play({ held: true, prompts: [] })
      .steer("note")
      .followUp("and this")
      .tell({ type: "started" });
    await run.settle();
    expect(run.asked).toEqual([]);
    expect(run.transcript.records).toEqual([]);
    expect(run.inboxTexts).toEqual(["note", "and this"]);
    expect(run.command).toEqual({
      type: "finish",
      branch: "main",
      last: { outcome: { type: "delivered", messages: 2 } },
      totals: { usage: NO_USAGE, costUsd: 0, turns: 0, durationMs: 0 },
    });
  });

  test("counts messages that arrive while the first ones are written [PHI-13b]", async () => {
    const run = await play({ held: true, prompts: [] })
      .steer("a")
      .tell({ type: "started" })
      .steer("b")
      .settle();
    expect(run.inboxTexts).toEqual(["a", "b"]);
    expect(run.state.last?.outcome).toEqual({ type: "delivered", messages: 2 });
  });

  test("without any message ends the run [PHI-13b]", () => {
    const run = play({ prompts: [] });
    expect(run.command).toEqual({
      type: "finish",
      branch: "main",
      last: { outcome: { type: "delivered", messages: 0 } },
      totals: { usage: NO_USAGE, costUsd: 0, turns: 0, durationMs: 0 },
    });
  });

  test("of an interactive run waits, or answers the messages sent with it", async () => {
    expect(play({ prompts: [], mode: "interactive" }).command).toEqual({ type: "wait", untilMs: undefined });
    const run = play({ prompts: [], mode: "interactive", held: true })
      .steer("hello?")
      .tell({ type: "started" });
    expect((await run.settle()).lines).toEqual(["steering: hello?", "model: done"]);
  });

  test("a run waits until the `started` event", () => {
    const run = play({ held: true });
    expect(run.command).toEqual({ type: "wait", untilMs: undefined });
  });
});

describe("an interactive run", () => {
  test("waits after a loop, and answers the next prompt in a loop of its own [STEER-12.2]", async () => {
    const run = await play({ mode: "interactive", replies: [says("one"), says("two")] }).settle();
    expect(run.command).toEqual({ type: "wait", untilMs: undefined });
    await run.prompt("more").settle();
    expect(run.lines).toEqual(["prompt: hi", "model: one", "prompt: more", "model: two"]);
    expect(run.transcript.records.map(({ loopId }) => loopId)).toEqual(["s.test.1", "s.test.2"]);
    expect(run.state.view.spans.reduce((turns, span) => turns + span.turns, 0)).toBe(4);
  });

  test("delivers one queued steering message before the next prompt, and the rest after it [LOOP-08]", async () => {
    const run = await play({ mode: "interactive" })
      .settle()
      .steer("before")
      .steer("between")
      .followUp("last");
    expect(run.command.type).toBe("wait");
    await run.prompt("the prompt").settle();
    expect(run.lines.slice(2)).toEqual([
      "steering: before",
      "prompt: the prompt",
      "model: done",
      "steering: between",
      "model: done",
      "follow-up: last",
      "model: done",
    ]);
  });

  test("ends after its idle timeout, and not before", async () => {
    const run = await play({ mode: "interactive", idleTimeoutMs: 60_000 }).settle();
    const { command } = run;
    expect(command).toEqual({ type: "wait", untilMs: run.now + 60_000 });
    await run.pass(30_000).timePassed();
    expect(run.command).toEqual(command);
    await run.pass(30_000).timePassed();
    expect(run.command.type).toBe("finish");
    run.checkEnd();
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("ends at the exact millisecond of its idle timeout", async () => {
    const run = await play({ mode: "interactive", idleTimeoutMs: 60_000 }).settle();
    const untilMs = run.now + 60_000;
    await run.pass(60_000 - 2).timePassed();
    expect(run.command.type).toBe("wait");
    await run.timePassed();
    expect(run.now).toBe(untilMs);
    expect(run.command.type).toBe("finish");
  });

  test("restarts its idle timeout after each loop", async () => {
    const run = await play({ mode: "interactive", idleTimeoutMs: 1000 })
      .settle()
      .pass(900)
      .prompt("x")
      .settle();
    expect(run.command).toEqual({ type: "wait", untilMs: run.now + 1000 });
    await run.pass(1000).timePassed().settle();
    expect(run.lines).toHaveLength(4);
  });

  test("without an idle timeout is not ended by time", async () => {
    const run = await play({ mode: "interactive" }).settle().pass(1e12).timePassed();
    expect(run.command.type).toBe("wait");
  });

  test("puts undelivered messages into the inbox when it times out [PHI-13b]", async () => {
    const run = await play({ mode: "interactive", idleTimeoutMs: 10 })
      .settle()
      .steer("x")
      .pass(10)
      .timePassed()
      .settle();
    expect(run.inboxTexts).toEqual(["x"]);
    await run.steer("y").settle();
    expect(run.inboxTexts).toEqual(["x", "y"]);
  });

  test("is not ended by its idle timeout while it works", async () => {
    const run = await play({ mode: "interactive", idleTimeoutMs: 10 })
      .until("call-model")
      .pass(100)
      .timePassed();
    expect(run.command.type).toBe("call-model");
  });

  test("does not keep the last answer's text in its state during the next loop [RIG-04.3]", async () => {
    const run = await play({ mode: "interactive", replies: [says("x".repeat(20_000))] }).settle();
    expect(run.state.last?.text).toContain("x".repeat(20_000));
    await run.prompt("more").until("call-model");
    expect(JSON.stringify(run.state).length).toBeLessThan(5000);
  });

  test("adds up turns, cost, usage and time over its loops", async () => {
    const run = play({
      mode: "interactive",
      replies: [{ ...calls("bash"), costUsd: 1 }, says("a"), says("b", { costUsd: 2 })],
    });
    await run.settle().prompt("x").settle();
    expect(run.state.totals).toEqual({
      loops: 2,
      turns: 3,
      costUsd: 3,
      usage: expect.objectContaining({ input: 30, output: 15, totalTokens: 45 }),
      durationMs: expect.any(Number),
    });
  });
});
