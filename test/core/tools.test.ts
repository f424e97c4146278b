import { describe, expect, test } from "vitest";
import { CUT_OFF_TEXT } from "../../src/core/machine/call-batches.ts";
import { play, type Run } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const five = calls("bash", "edit", "bash", "edit", "bash");
const SKIPPED = "Skipped due to queued user message.";

/** Results of the first answer's calls, in order of position. */
const results = (run: Run) => run.lines.slice(2).filter((line) => /^(bash|edit|read|\w+!)/.test(line));

describe("strategies", () => {
  test("parallel runs all calls at once [TOOL-07.1]", async () => {
    const run = await play({ replies: [five] }).until("call-tools");
    expect(run.running).toEqual([0, 1, 2, 3, 4]);
  });

  test("sequential runs one call at a time, in order [TOOL-07.2]", async () => {
    const run = play({ strategy: { type: "sequential" }, replies: [calls("bash", "edit", "bash")] });
    await run.until("call-tools");
    const seen: (readonly number[])[] = [];
    while (run.phase === "calling-tools") {
      seen.push(run.running);
      await run.step();
    }
    expect(seen).toEqual([[0], [1], [2]]);
  });

  test("batches of two run five calls as [1,2],[3,4],[5] [STEER-08.2, TOOL-07.3]", async () => {
    const run = await play({ strategy: { type: "batched", size: 2 }, replies: [five] }).until("call-tools");
    expect(run.running).toEqual([0, 1]);
    await run.tool(1);
    expect(run.running).toEqual([0]);
    await run.tool(0);
    expect(run.running).toEqual([2, 3]);
    await run.step();
    expect(run.running).toEqual([4]);
    await run.settle();
    expect(results(run).slice(0, 5)).toEqual([
      "bash: bash ok",
      "edit: edit ok",
      "bash: bash ok",
      "edit: edit ok",
      "bash: bash ok",
    ]);
  });

  test("each batch is a command of its own, and its calls share the number [TOOL-07.3]", async () => {
    const run = await play({ strategy: { type: "batched", size: 2 }, replies: [five] }).until("call-tools");
    const numbers = new Set<number>();
    while (run.phase === "calling-tools") {
      const unit = run.running.map((call) => run.call(call).number);
      expect(new Set(unit).size).toBe(1);
      numbers.add(unit[0] as number);
      await run.step();
    }
    expect(numbers.size).toBe(3);
  });

  test("the calls of a batch all write from the position of its first result on [TOOL-07.3]", async () => {
    const run = await play({ strategy: { type: "batched", size: 2 }, replies: [five] }).until("call-tools");
    const bases: (readonly number[])[] = [];
    while (run.phase === "calling-tools") {
      bases.push(run.running.map((call) => run.call(call).base));
      await run.step();
    }
    expect(bases).toEqual([[2, 2], [4, 4], [6]]);
  });

  test("results are in call order, whichever call ends first [TOOL-08.1-2, LOOP-17, PHI-13a, RIG-03.2]", async () => {
    const run = await play({ replies: [calls("bash", "edit", "read")] }).until("call-tools");
    await run.tool(2).tool(0, true).tool(1).settle();
    expect(run.lines.slice(2, 5)).toEqual(["bash!: bash failed", "edit: edit ok", "read: read ok"]);
  });

  test("each call has its index, its position and the position of its answer", async () => {
    const run = await play({ replies: [calls("bash", "edit")] }).until("call-tools");
    expect(run.call(0)).toMatchObject({
      answer: 1,
      position: 2,
      call: 0,
      toolName: "bash",
      timeoutMs: 60_000,
    });
    expect(run.call(1)).toMatchObject({ answer: 1, position: 3, call: 1, toolName: "edit" });
    expect(run.call(1)).not.toHaveProperty("timeoutMs");
  });

  test("quick tools run locally if local steps are enabled, others never", async () => {
    const local = async (localSteps: boolean) => {
      const run = await play({ localSteps, replies: [calls("read", "bash")] }).until("call-tools");
      return run.running.map((call) => run.call(call).isLocal);
    };
    expect(await local(true)).toEqual([true, false]);
    expect(await local(false)).toEqual([false, false]);
  });

  test("a local call never carries the outbox: a normal sibling or the next step does", async () => {
    const mixed = await play({ replies: [calls("nothing", "read", "bash")] }).until("call-tools");
    expect(mixed.call(1)).toMatchObject({ isLocal: true, outbox: { entries: [], events: [] }, base: 2 });
    expect(mixed.call(2).outbox.entries.map(({ position }) => position)).toEqual([2]);
    const alone = await play({ replies: [calls("nothing", "read")] }).until("call-tools");
    expect(alone.call(1).outbox).toEqual({ entries: [], events: [] });
    await alone.setBack({ type: "not-local" });
    expect(alone.call(1)).toMatchObject({ isLocal: false, outbox: { entries: [], events: [] } });
    await alone.step();
    expect(alone.command).toMatchObject({ type: "call-model", base: 2 });
    expect((await alone.settle()).lines.slice(2, 4)).toEqual([
      "nothing!: Tool nothing not found",
      "read: read ok",
    ]);
  });

  test("only one call of a batch carries the outbox", async () => {
    const run = await play({ replies: [calls("nothing", "bash", "edit")] }).until("call-tools");
    expect(run.running).toEqual([1, 2]);
    expect(run.call(1).outbox.entries.map(({ position }) => position)).toEqual([2]);
    expect(run.call(1).base).toBe(2);
    expect(run.call(2).outbox).toEqual({ entries: [], events: [] });
    expect(run.call(2).base).toBe(2);
  });
});

describe("calls that are not run", () => {
  test("a call of an unknown tool gets an error result that the model can read [TOOL-06, TOOL-05.1-2]", async () => {
    const run = await play({ replies: [calls("frobnicate", "bash"), says("I see")] }).settle();
    expect(run.lines.slice(2)).toEqual([
      "frobnicate!: Tool frobnicate not found",
      "bash: bash ok",
      "model: I see",
    ]);
    expect(run.executed.map(({ toolName }) => toolName)).toEqual(["bash"]);
  });

  test("a tool with the name of a property of every object is unknown too [TOOL-06]", async () => {
    for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
      const run = await play({ replies: [calls(name), says("I see")] })
        .until("call-model")
        .step()
        .settle();
      expect(run.lines[2]).toBe(`${name}!: Tool ${name} not found`);
      expect(run.executed).toEqual([]);
    }
  });

  test("a call with invalid arguments gets an error result that says why [TOOL-05.1]", async () => {
    const run = await play({ replies: [calls({ name: "bash", invalid: true })] }).settle();
    expect(run.lines[2]).toBe("bash!: Invalid arguments: text: found nothing, expected text");
    expect(run.executed).toEqual([]);
  });

  test("when no call can be run, no step is dispatched for the calls [TOOL-08.3]", async () => {
    const run = await play({
      strategy: { type: "sequential" },
      replies: [calls("a", "b", "c"), says("ok")],
    }).settle();
    expect(run.commands.map(({ type }) => type)).toEqual([
      "open-loop",
      "call-model",
      "call-model",
      "close-loop",
    ]);
    expect(run.lines.slice(2, 5)).toEqual([
      "a!: Tool a not found",
      "b!: Tool b not found",
      "c!: Tool c not found",
    ]);
  });

  test("no call of an answer that was cut off is run [PHI-13m, GAP-05]", async () => {
    const run = await play({
      replies: [{ ...calls("bash", "nothing"), stopReason: "length" }, says("smaller")],
    }).settle();
    expect(run.executed).toEqual([]);
    expect(CUT_OFF_TEXT).toContain("the answer was cut off by the output limit");
    expect(run.lines.slice(2)).toEqual([
      `bash!: ${CUT_OFF_TEXT}`,
      `nothing!: ${CUT_OFF_TEXT}`,
      "model: smaller",
    ]);
  });

  test("no call of an answer that the vendor's filter cut short is run [PHI-13m]", async () => {
    const run = await play({
      replies: [{ ...calls("bash"), stopReason: "guardRail" }, says("sorry")],
    }).settle();
    expect(run.executed).toEqual([]);
    expect(run.lines[2]).toMatch(/^bash!: /);
    // That answer is not sent to the model, so another call would repeat the same request.
    expect(run.asked).toHaveLength(1);
    expect(run.state.last?.outcome).toEqual({ type: "answered", stopReason: "guardRail" });
  });
});

describe("steering and calls", () => {
  test("steering after the first of three sequential calls skips the other two [STEER-09, STEER-05, STEER-06.3, X-06.1]", async () => {
    const run = play({
      strategy: { type: "sequential" },
      replies: [calls("bash", "edit", "read"), says("ok")],
    });
    await run.until("call-tools").steer("stop that").step();
    expect(run.phase).toBe("calling-model");
    await run.settle();
    expect(run.lines.slice(2)).toEqual([
      "bash: bash ok",
      `edit!: ${SKIPPED}`,
      `read!: ${SKIPPED}`,
      "steering: stop that",
      "model: ok",
    ]);
    expect(run.executed).toHaveLength(1);
  });

  test("steering after the first batch of two skips the other three [STEER-08.3, STEER-06.4]", async () => {
    const run = await play({ strategy: { type: "batched", size: 2 }, replies: [five] }).until("call-tools");
    await run.tool(0).steer("wait").tool(1).settle();
    expect(results(run).slice(0, 5)).toEqual([
      "bash: bash ok",
      "edit: edit ok",
      `bash!: ${SKIPPED}`,
      `edit!: ${SKIPPED}`,
      `bash!: ${SKIPPED}`,
    ]);
  });

  test("steering in the last batch skips nothing [STEER-08.3]", async () => {
    const run = await play({ strategy: { type: "batched", size: 2 }, replies: [five] }).until("call-tools");
    await run.step().step().steer("late").settle();
    expect(run.executed).toHaveLength(5);
    expect(run.lines.slice(7)).toEqual(["steering: late", "model: done"]);
  });

  test("steering skips no parallel calls [STEER-08.1, X-39, STEER-06.5]", async () => {
    const run = await play({ replies: [five] })
      .until("call-tools")
      .steer("x")
      .settle();
    expect(run.executed).toHaveLength(5);
  });

  test("steering that arrives during the model call lets the first batch run [STEER-04.1-3, STEER-07.1]", async () => {
    const run = play({ strategy: { type: "sequential" }, replies: [calls("bash", "edit"), says("ok")] });
    await run.until("call-model").steer("early").settle();
    expect(run.lines.slice(2, 5)).toEqual(["bash: bash ok", `edit!: ${SKIPPED}`, "steering: early"]);
  });

  test("a follow-up skips nothing [STEER-10.1]", async () => {
    const run = play({ strategy: { type: "sequential" }, replies: [calls("bash", "edit")] });
    await run.until("call-tools").followUp("later").settle();
    expect(run.executed).toHaveLength(2);
  });

  test("steering that is cleared in time skips nothing [STEER-03.1]", async () => {
    const run = play({ strategy: { type: "sequential" }, replies: [calls("bash", "edit")] });
    await run.until("call-tools").steer("x").clear("steering").settle();
    expect(run.executed).toHaveLength(2);
    expect(run.lines).toHaveLength(5);
  });

  test("steering that arrives while tools run follows their results [PHI-13a]", async () => {
    const run = await play({ replies: [calls("bash", "edit")] })
      .until("call-tools")
      .tool(1)
      .steer("and?")
      .tool(0)
      .settle();
    expect(run.lines.slice(2, 5)).toEqual(["bash: bash ok", "edit: edit ok", "steering: and?"]);
  });
});

describe("tools that fail", () => {
  test("a tool's error is a result, never the end of the loop [TOOL-05.1-2]", async () => {
    const run = await play({ replies: [calls("bash"), says("oh")] })
      .until("call-tools")
      .tool(0, true)
      .settle();
    expect(run.lines.slice(2)).toEqual(["bash!: bash failed", "model: oh"]);
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("a tool that throws loses no message that waits [PHI-10.3]", async () => {
    const run = await play({ replies: [calls("bash"), says("oh"), says("well")] })
      .until("call-tools")
      .steer("now")
      .followUp("later")
      .tool(0, true)
      .settle();
    expect(run.lines.slice(2)).toEqual([
      "bash!: bash failed",
      "steering: now",
      "model: oh",
      "follow-up: later",
      "model: well",
    ]);
  });

  test("a step that fails permanently becomes an error result that says why [TOOL-05.3]", async () => {
    const run = await play({ replies: [calls("bash", "edit")] })
      .until("call-tools")
      .fail("host-gone", "no host", 0);
    expect(run.running).toEqual([1]);
    await run.settle();
    expect(run.lines.slice(2, 4)).toEqual(["bash!: Failed: no host", "edit: edit ok"]);
  });

  test("the outbox of a failed call is written with the next step", async () => {
    const run = await play({ replies: [calls("nothing", "bash")] })
      .until("call-tools")
      .fail("other", "no", 1);
    expect(run.command).toMatchObject({ type: "call-model", base: 2 });
    await run.settle();
    expect(run.lines.slice(2, 4)).toEqual(["nothing!: Tool nothing not found", "bash!: Failed: no"]);
  });

  test("an event for a call that has ended, or that does not exist, is ignored [RIG-03.1]", async () => {
    const run = await play({ replies: [calls("bash", "edit")] }).until("call-tools");
    const digest = { branch: "main", isError: true, tokens: 1, preview: "" };
    await run.tool(0);
    const before = run.state;
    await run.tell({ type: "tool-finished", call: 0, digest });
    await run.tell({ type: "tool-failed", call: 0, failure: { type: "lost", attempts: 0 } });
    await run.tell({ type: "tool-finished", call: 9, digest });
    expect({ ...run.state, nowMs: 0 }).toEqual({ ...before, nowMs: 0 });
  });
});
