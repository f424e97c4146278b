import { describe, expect, test } from "vitest";
import { play } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const turns = (count: number) => Array.from({ length: count }, () => calls("bash"));

describe("continue as new", () => {
  test("happens only between turns, with an empty outbox, and leaves no trace in the record [RIG-04.2]", async () => {
    const plain = await play({ replies: turns(3) }).settle();
    const run = await play({ replies: turns(3) })
      .until("call-tools")
      .rotationDue();
    expect(run.command.type).toBe("call-tools");
    await run.step();
    expect(run.command).toMatchObject({ type: "record", inbox: [] });
    await run.step();
    expect(run.command).toEqual({ type: "rotate" });
    expect(run.state.outbox).toEqual({ entries: [], events: [] });
    await run.settle();
    expect(run.run).toBe("run2");
    expect(run.lines).toEqual(plain.lines);
    expect(run.eventLines()).toEqual(plain.eventLines());
    expect(run.state.rotationRequested).toBe(false);
  });

  test("before the first turn leaves the prompts' events in that turn [LOOP-03.1]", async () => {
    const plain = await play().settle();
    const run = await play().rotationDue().settle();
    expect(run.run).toBe("run2");
    expect(run.eventLines()).toEqual(plain.eventLines());
  });

  test("delivers steering that arrives meanwhile [STEER-06.1]", async () => {
    const run = await play({ replies: turns(1) })
      .until("call-tools")
      .rotationDue()
      .step()
      .steer("a");
    expect(run.command.type).toBe("record");
    await run.step();
    await run.steer("b").continueAsNew().settle();
    expect(run.lines.slice(3)).toEqual(["steering: a", "model: done", "steering: b", "model: done"]);
  });

  test("continues with the follow-up that was next [STEER-10.2]", async () => {
    const run = await play()
      .until("call-model")
      .followUp("next")
      .rotationDue()
      .until("rotate")
      .continueAsNew();
    expect(run.command).toMatchObject({ type: "call-model", turn: 1 });
    await run.settle();
    expect(run.lines).toEqual(["prompt: hi", "model: done", "follow-up: next", "model: done"]);
  });

  test("delivers steering that arrives meanwhile before that follow-up [STEER-10.1]", async () => {
    const run = await play()
      .until("call-model")
      .followUp("next")
      .rotationDue()
      .step()
      .steer("first")
      .settle();
    expect(run.lines.slice(2)).toEqual(["steering: first", "model: done", "follow-up: next", "model: done"]);
  });

  test("ends the loop if the message to continue with is cleared meanwhile [STEER-03.1]", async () => {
    for (const queue of ["steering", "follow-up"] as const) {
      const run = await play().until("call-model");
      if (queue === "steering") await run.steer("x");
      else await run.followUp("x");
      await run.rotationDue().step();
      expect(run.command.type).toBe("record");
      await run.clear("all").settle();
      expect(run.asked).toHaveLength(1);
      expect(run.lines).toEqual(["prompt: hi", "model: done"]);
      expect(run.state.last?.outcome.type).toBe("answered");
    }
  });

  test("continues after the results of calls even if the queues are cleared meanwhile [LOOP-20.3]", async () => {
    const run = await play({ replies: turns(1) })
      .until("call-tools")
      .steer("x")
      .rotationDue()
      .step()
      .clear("all")
      .settle();
    expect(run.lines.slice(2)).toEqual(["bash: bash ok", "model: done"]);
  });

  test("keeps the deadline of a waiting run", async () => {
    const run = await play({ mode: "interactive", idleTimeoutMs: 5000 }).settle();
    const { command } = run;
    await run.rotationDue();
    expect(run.command).toEqual({ type: "rotate" });
    await run.pass(1000).continueAsNew();
    expect(run.command).toEqual(command);
    await run.prompt("more").settle();
    expect(run.lines).toHaveLength(4);
  });

  test("that becomes due in a loop's last turn happens after the loop, unless the run ends [RIG-04.2]", async () => {
    const run = await play({ mode: "interactive" }).until("call-model").rotationDue().until("rotate");
    expect(run.state.loop).toBeUndefined();
    await run.continueAsNew();
    expect(run.command).toEqual({ type: "wait", untilMs: undefined });
    const ending = await play().until("call-model").rotationDue().settle();
    expect(ending.run).toBe("run1");
  });

  test("continues the command numbers, so that no key is used twice [RIG-04.2]", async () => {
    const run = await play({ replies: turns(2) })
      .until("call-tools")
      .rotationDue()
      .until("rotate");
    const { nextCommand } = run.state;
    await run.continueAsNew();
    expect(run.command).toMatchObject({ number: nextCommand, generation: 0 });
  });

  test("checks limits before and after [LIM-02.2]", async () => {
    const before = await play({ limits: { maxTurns: 1 }, replies: turns(9) })
      .until("call-tools")
      .rotationDue()
      .settle();
    expect(before.run).toBe("run1");
    const behind = await play({ limits: { maxDurationMs: 1000 }, replies: turns(9) })
      .until("call-tools")
      .rotationDue();
    await behind.until("rotate").pass(2000).settle();
    expect(behind.asked).toHaveLength(1);
    expect(behind.lines.at(-1)).toMatch(/Max duration reached/);
  });

  test("preserves queues, ids, totals, goal, pinned settings, usage and view [RIG-04.2, TMP-03.2]", async () => {
    const run = await play({ mode: "interactive", replies: [calls("bash"), says("two")] }).until(
      "call-tools",
    );
    await run.setMode("steering", "all").followUp("f").rotationDue().until("rotate");
    const { queues, recentIds, totals, goal, pinned, view, loop } = run.state;
    await run.continueAsNew();
    expect(run.state).toMatchObject({ queues, recentIds, totals, goal, pinned });
    expect(run.state.loop?.usage).toEqual(loop?.usage);
    expect(run.state.view).toEqual(view);
  });
});
