import { describe, expect, test } from "vitest";
import { play } from "./support/run.ts";
import { calls, says, usageOf } from "./support/script.ts";

describe("a lost model call", () => {
  test("is dispatched again with the same number and a higher generation [RIG-04.2]", async () => {
    const run = await play().until("call-model");
    const first = run.command;
    await run.lose("claimed");
    expect(run.command).toEqual({ ...first, generation: 1 });
    await run.settle();
    expect(run.lines).toEqual(["prompt: hi", "model: done"]);
  });

  test("whose answer is stored is not paid for again [RIG-04.2]", async () => {
    const run = await play({ replies: [says("dear")] })
      .until("call-model")
      .lose("stored")
      .settle();
    expect(run.asked).toHaveLength(1);
    expect(run.lines).toEqual(["prompt: hi", "model: dear"]);
  });

  test("fails the loop the third time in a row, and not the second time [LOOP-24.2-3]", async () => {
    const run = await play().until("call-model").lose().lose();
    expect(run.phase).toBe("calling-model");
    await run.lose().settle();
    expect(run.state.last?.outcome).toMatchObject({ type: "failed", fault: "worker-lost" });
    expect(run.lines[1]).toMatch(/^error: 3 workers died/);
  });

  test("that timed out does not report its worker as dead, because the worker may only be stalled", async () => {
    const late = { type: "lost", attempts: 0, isTimeout: true } as const;
    const run = await play().until("call-model");
    await run.setBack(late).setBack(late).setBack(late).settle();
    expect(run.state.last?.outcome).toMatchObject({ type: "failed", fault: "worker-lost" });
    expect(run.lines[1]).toMatch(
      /3 times in a row the worker was lost during the model call: the last one did not report/,
    );
    expect(run.lines.join()).not.toContain("died");
  });

  test("is counted from zero for the next command", async () => {
    const run = await play({ replies: [calls("bash")] })
      .until("call-model")
      .lose()
      .lose()
      .step();
    await run.lose().lose().step().lose().lose().settle();
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("reduces the remaining attempts by those already made [RTY-01.3]", async () => {
    const attempts = async (...lost: number[]) => {
      const run = await play({ maxRetries: 4 }).until("call-model");
      for (const made of lost) await run.lose("claimed", 0, made);
      return run.command;
    };
    expect(await attempts()).toMatchObject({ maxAttempts: 5 });
    expect(await attempts(2)).toMatchObject({ maxAttempts: 3 });
    expect(await attempts(1, 3)).toMatchObject({ maxAttempts: 2 });
    expect(await attempts(3, 0)).toMatchObject({ maxAttempts: 2 });
    expect(await attempts(4, 9)).toMatchObject({ maxAttempts: 1 });
  });

  test("has a single attempt without retries [RTY-01.2]", async () => {
    const run = await play({ maxRetries: 0 }).until("call-model");
    expect(run.command).toMatchObject({ maxAttempts: 1 });
  });

  test("that cannot run locally is dispatched again with all its attempts [RTY-01.3]", async () => {
    const run = await play({ maxRetries: 4 }).until("call-model");
    const first = run.command;
    await run.setBack({ type: "not-local" });
    expect(run.command).toEqual({ ...first, generation: 1, maxAttempts: 5 });
    await run.lose("claimed", 0, 2);
    expect(run.command).toMatchObject({ generation: 2, maxAttempts: 3 });
  });

  test("does not reduce the attempts of the next turn [RTY-01.3]", async () => {
    const run = await play({ maxRetries: 4, replies: [calls("bash")] })
      .until("call-model")
      .lose("claimed", 0, 3);
    await run.step().until("call-model");
    expect(run.command).toMatchObject({ maxAttempts: 5 });
  });

  test("writes the messages of its outbox once [STEER-01.3]", async () => {
    const run = await play({ replies: [calls("bash")] })
      .until("call-tools")
      .steer("x")
      .step();
    await run.lose("claimed").lose("nothing").settle();
    expect(run.lines.filter((line) => line === "steering: x")).toHaveLength(1);
  });
});

describe("a lost tool call", () => {
  test("is dispatched again while its siblings continue", async () => {
    const run = await play({ replies: [calls("bash", "edit", "bash")] }).until("call-tools");
    const { number } = run.call(1);
    await run.lose("claimed", 1);
    expect(run.running).toEqual([0, 1, 2]);
    expect([0, 1, 2].map((call) => run.call(call).generation)).toEqual([0, 1, 0]);
    expect(run.call(1).number).toBe(number);
    await run.tool(2).lose("nothing", 1).tool(0).tool(1).settle();
    expect(run.lines.slice(2, 5)).toEqual(["bash: bash ok", "edit: edit ok", "bash: bash ok"]);
  });

  test("gets an error result the third time in a row, and the loop continues [TOOL-05.3]", async () => {
    const run = await play({ replies: [calls("bash", "edit")] }).until("call-tools");
    await run.lose("nothing", 0).lose("nothing", 0);
    expect(run.running).toEqual([0, 1]);
    await run.lose("nothing", 0);
    expect(run.running).toEqual([1]);
    await run.settle();
    expect(run.lines[2]).toBe("bash!: Failed: 3 workers died while this call ran; it is not retried.");
    expect(run.lines.at(-1)).toBe("model: done");
  });

  test("whose result is stored is not run again", async () => {
    const run = await play({ replies: [calls("bash")] })
      .until("call-tools")
      .lose("stored")
      .settle();
    expect(run.executed).toHaveLength(1);
    expect(run.lines[2]).toBe("bash: bash ok");
  });

  test("becomes permanently normal if it cannot run locally", async () => {
    const run = await play({ replies: [calls("read")] }).until("call-tools");
    expect(run.call(0)).toMatchObject({ isLocal: true, generation: 0 });
    await run.setBack({ type: "not-local" });
    expect(run.call(0)).toMatchObject({ isLocal: false, generation: 1 });
    await run.lose();
    expect(run.call(0)).toMatchObject({ isLocal: false, generation: 2 });
  });

  test("stays local if it was local", async () => {
    const run = await play({ replies: [calls("read")] })
      .until("call-tools")
      .lose();
    expect(run.call(0)).toMatchObject({ isLocal: true, generation: 1 });
  });

  test("carries the same outbox when it is dispatched again", async () => {
    const run = await play({ replies: [calls("nothing", "bash", "edit")] }).until("call-tools");
    const { outbox } = run.call(1);
    await run.tool(2).lose("claimed", 1);
    expect(run.call(1).outbox).toEqual(outbox);
    await run.settle();
    expect(run.lines[2]).toBe("nothing!: Tool nothing not found");
  });

  test("carries only the outbox of its dispatch, whatever its siblings add later", async () => {
    const run = await play({ replies: [calls("nothing", "bash", "edit")] }).until("call-tools");
    const { outbox } = run.call(1);
    await run.fail("other", "no", 2);
    expect(run.call(1).outbox).toEqual(outbox);
    await run.tool(1);
    expect(run.state.outbox.entries.map(({ position }) => position)).toEqual([4]);
    expect((await run.settle()).lines[4]).toBe("edit!: Failed: no");
  });

  test("keeps the base of its batch after the call with the outbox is done, so that siblings fork alike", async () => {
    const run = play({
      strategy: { type: "batched", size: 2 },
      replies: [calls("bash", "edit", "bash", "edit")],
    });
    await run.until("call-tools").tool(0).fail("other", "no", 1);
    const { base } = run.call(3);
    expect(base).toBe(3);
    expect(run.call(2).base).toBe(base);
    await run.tool(2);
    expect(run.call(3).base).toBe(base);
    await run.lose("nothing", 3);
    expect(run.call(3).base).toBe(base);
  });
});

describe("steps that only write", () => {
  test("are dispatched again until they succeed, however often workers die [X-01]", async () => {
    const run = play();
    for (let i = 0; i < 5; i++) await run.lose(i % 2 === 0 ? "stored" : "nothing");
    expect(run.command).toMatchObject({ type: "open-loop", number: 0, generation: 5 });
    await run.until("close-loop").lose("stored").lose().lose().lose();
    expect(run.command).toMatchObject({ type: "close-loop", generation: 4 });
    await run.settle();
    expect(run.lines).toEqual(["prompt: hi", "model: done"]);
    expect(run.transcript.records).toHaveLength(1);
  });

  test("fail the run, even an interactive one, if a loop cannot be opened", async () => {
    for (const mode of ["run", "interactive"] as const) {
      const run = await play({ mode }).fail("definition", "no such tool");
      expect(run.command).toEqual({
        type: "finish",
        branch: "main",
        last: { outcome: { type: "failed", fault: "definition", message: "no such tool" } },
        totals: { usage: usageOf(0, 0), costUsd: 0, turns: 0, durationMs: 0 },
      });
      run.checkEnd();
    }
  });

  test("put messages queued before a prompt into the inbox if its loop cannot be opened [PHI-13b]", async () => {
    const run = await play({ mode: "interactive" }).settle().steer("one").steer("two").followUp("three");
    await run.prompt("go").fail("definition").settle();
    expect(run.inboxTexts).toEqual(["one", "two", "three"]);
    expect(run.state.last?.outcome.type).toBe("failed");
  });

  test("fail the run if the loop's end cannot be written, so that it does not count as answered", async () => {
    const run = await play().until("close-loop").fail("damaged", "the file is damaged");
    expect(run.command).toMatchObject({
      type: "finish",
      last: { outcome: { type: "failed", fault: "damaged" }, loopId: "s.test.1" },
    });
  });

  test("report no messages as delivered that cannot be put into the inbox [PHI-13b]", async () => {
    const run = play({ held: true, prompts: [] }).steer("lost?").tell({ type: "started" });
    expect(run.command.type).toBe("record");
    run.seen.forgotten.add("m1");
    await run.fail("damaged", "the file is damaged");
    expect(run.command).toMatchObject({
      type: "finish",
      last: { outcome: { type: "failed", fault: "damaged" } },
    });
  });

  test("fail the loop if a record step fails in the middle of it, instead of leaving a gap [PHI-13b]", async () => {
    const run = await play({ replies: [calls("nothing")] })
      .until("call-model")
      .rotationDue()
      .until("record");
    expect(run.state.outbox.entries).toHaveLength(1);
    await run.fail("damaged", "the file is damaged").settle();
    expect(run.command.type).toBe("finish");
    expect(run.state.last?.outcome).toMatchObject({ type: "failed", fault: "damaged" });
    expect(run.lines).toEqual(["prompt: hi", "model: calling +nothing", "nothing!: Tool nothing not found"]);
  });
});

describe("branches", () => {
  test("a tool result that names another branch moves the run and its view there", async () => {
    const run = await play({ replies: [calls("bash", "edit")] }).until("call-tools");
    run.transcript.intrude("main");
    await run.tool(0);
    expect(run.state.branch).not.toBe("main");
    expect(run.state.view.branch).toBe(run.state.branch);
    expect(run.call(1).branch).toBe(run.state.branch);
    await run.settle();
    expect(run.lines).toEqual([
      "prompt: hi",
      "model: calling +bash +edit",
      "bash: bash ok",
      "edit: edit ok",
      "model: done",
    ]);
    expect(run.command).toMatchObject({ type: "finish", branch: run.state.branch });
  });

  test("a model call, a record step and a close can move the run too", async () => {
    const model = await play().until("call-model");
    model.transcript.intrude("main");
    expect((await model.step()).state.branch).not.toBe("main");
    await model.settle();
    expect(model.lines).toEqual(["prompt: hi", "model: done"]);

    const record = await play({ replies: [calls("nothing")] })
      .until("call-model")
      .rotationDue()
      .until("record");
    record.transcript.intrude("main");
    expect((await record.step()).state.branch).not.toBe("main");
    await record.settle();
    expect(record.lines.slice(2)).toEqual(["nothing!: Tool nothing not found", "model: done"]);

    const close = await play({ limits: { maxTurns: 1 }, replies: [calls("bash")] }).until("close-loop");
    close.transcript.intrude("main");
    expect((await close.step()).state.branch).not.toBe("main");
    expect((await close.settle()).lines.at(-1)).toBe("machine: [Agent stopped: Max turns reached (1/1)]");
  });

  test("a new loop sees the entries that another run has added", async () => {
    const run = await play({ mode: "interactive" }).settle();
    run.transcript.intrude("main");
    run.transcript.intrude("main");
    await run.prompt("more").until("call-model");
    expect(run.state.view.spans[0]).toMatchObject({ from: 0, to: 4, turns: 1 });
    expect(run.command).toMatchObject({ position: 5, view: { ranges: [{ from: 0, to: 5 }] } });
  });
});
