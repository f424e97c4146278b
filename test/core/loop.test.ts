import { describe, expect, test } from "vitest";
import { buildLoopSegment } from "../../src/conversation/loop-segment.ts";
import { apply } from "../../src/core/machine/apply.ts";
import type { Continuation } from "../../src/schema/continuation.ts";
import { throughJson } from "./support/invariants.ts";
import { play } from "./support/run.ts";
import { calls, says, usageOf } from "./support/script.ts";

describe("turns", () => {
  test("a prompt and an answer are one loop of one turn [LOOP-01.1, LOOP-25.1]", async () => {
    const run = await play({ replies: [says("hello")] }).settle();
    expect(run.lines).toEqual(["prompt: hi", "model: hello"]);
    const used = { usage: usageOf(10, 5), durationMs: expect.any(Number) };
    expect(run.command).toEqual({
      type: "finish",
      branch: "main",
      last: {
        outcome: { type: "answered", stopReason: "stop" },
        loopId: "s.test.1",
        text: expect.stringContaining("hello"),
        position: 1,
      },
      totals: { ...used, turns: 1, costUsd: 0 },
    });
    expect(run.state.totals).toEqual({ ...used, loops: 1, turns: 1, costUsd: 0 });
  });

  test("the commands of a loop with one tool call are open, model, tools, model, close [LOOP-09.1, RIG-02]", async () => {
    const run = await play({ replies: [calls("bash"), says("ok")] }).settle();
    expect(run.commands.map(({ type }) => type)).toEqual([
      "open-loop",
      "call-model",
      "call-tools",
      "call-model",
      "close-loop",
    ]);
    expect(run.lines).toEqual(["prompt: hi", "model: calling +bash", "bash: bash ok", "model: ok"]);
  });

  test("an answer that ends at the output limit without calls ends the loop as answered [LOOP-20.3]", async () => {
    const run = await play({ replies: [says("half", { stopReason: "length" })] }).settle();
    expect(run.state.last?.outcome).toEqual({ type: "answered", stopReason: "length" });
  });

  test("usage and cost of all turns add up to the loop's totals [LOOP-15.2]", async () => {
    const run = await play({
      replies: [
        { ...calls("bash"), usage: usageOf(100, 10), costUsd: 0.25 },
        says("ok", { usage: usageOf(200, 20), costUsd: 0.5 }),
      ],
    }).settle();
    const end = run.transcript.listEvents("s.test.1").at(-1)?.body;
    expect(end).toMatchObject({ type: "AgentEnd", usage: { input: 300, output: 30, totalTokens: 330 } });
    const ends = run.transcript
      .listEvents("s.test.1")
      .flatMap(({ body }) => (body.type === "TurnEnd" ? [body.usage] : []));
    expect(ends.map(({ input }) => input)).toEqual([100, 200]);
    expect(run.state.totals).toMatchObject({
      loops: 1,
      turns: 2,
      costUsd: 0.75,
      usage: { input: 300, output: 30 },
    });
    expect(run.command).toMatchObject({
      totals: { turns: 2, costUsd: 0.75, usage: { input: 300, output: 30 } },
    });
    expect(run.commands.at(-1)).toMatchObject({ type: "close-loop", turns: 2, costUsd: 0.75, answer: 3 });
  });

  test("a loop in a session with a history shows all of it to the model [PHI-13h]", async () => {
    const first = await play({ replies: [says("one")] }).settle();
    const second = play({
      after: first,
      run: "later",
      prompts: ["again"],
      replies: [says("two")],
    });
    await second.until("call-model");
    expect(second.command).toMatchObject({ view: { ranges: [{ from: 0, to: 3 }] }, position: 3, turn: 0 });
    expect(second.state.view.spans.map(({ tokens }) => tokens)).toHaveLength(2);
    await second.settle();
    expect(second.lines).toEqual(["prompt: hi", "model: one", "prompt: again", "model: two"]);
  });

  test("a retried prompt that the session already has causes no model call", async () => {
    const first = await play({ replies: [says("one")] }).settle();
    const again = play({ after: first, run: "later", prompts: [], mode: "interactive" });
    await again.prompt("hi", "m1").until("close-loop");
    expect(again.asked).toEqual([]);
    await again.settle();
    expect(again.lines).toEqual(["prompt: hi", "model: one"]);
  });

  test("the goal is the first prompt's text, or the number of messages when the text is stored separately", async () => {
    expect((await play({ prompts: ["mend it"] }).settle()).state.goal).toBe("mend it");
    const run = play({ prompts: [], mode: "interactive" });
    run.tell({ type: "prompted", message: { id: "r", ref: "abc", atMs: 0 } });
    await run.until("call-model");
    expect(run.state.goal).toBe("1 messages");
  });

  test("the state drops the definition when the loop opens, and retains only its hash", async () => {
    const run = play();
    expect(run.command).toMatchObject({ type: "open-loop", definitionHash: "hash-asked" });
    await run.step();
    expect(run.state.requestedDefinition).toEqual({ hash: "hash" });
    expect(run.command).toMatchObject({ type: "call-model", definitionHash: "hash" });
  });

  test("apply does not mutate the given state, and time never goes backwards [RIG-01]", () => {
    const run = play();
    const before = throughJson(run.state);
    const { state } = run;
    const after = apply(state, { type: "stop-requested", reason: "x", atMs: 1 });
    expect(throughJson(state)).toEqual(before);
    expect(after.nowMs).toBe(state.nowMs);
  });

  test("an event that does not fit the current phase throws [RIG-03.1]", () => {
    const run = play();
    const recorded = { type: "recorded", digest: { branch: "main" }, atMs: 0 } as const;
    expect(() => apply(run.state, recorded)).toThrow(/"recorded" while opening/);
    expect(() => apply(run.state, { type: "started", atMs: 0 })).toThrow(/"started" while opening/);
    const message = { id: "x", text: "x", atMs: 0 };
    expect(() => apply(run.state, { type: "prompted", message, atMs: 0 })).toThrow(
      /"prompted" while opening/,
    );
  });

  test("an event of an unknown type throws an error that names it", () => {
    const unknown = { type: "sneezed", atMs: 0 } as never;
    expect(() => apply(play().state, unknown)).toThrow('Unhandled variant: {"type":"sneezed"');
  });

  test("a state of a newer release is rejected [RIG-05]", async () => {
    const run = await play({ replies: [calls("bash")] })
      .rotationDue()
      .until("rotate");
    for (const newer of [{ version: 99 as 1 }, { ruleSet: 99 }]) {
      expect(() => apply({ ...run.state, ...newer }, { type: "started", atMs: 0 })).toThrow(/newer/i);
    }
    expect(run.state.version).toBe(1);
  });
});

describe("events", () => {
  test("of three turns have exactly this order [EVT-12.1, EVT-13.3, EVT-14.1]", async () => {
    const run = play({
      strategy: { type: "sequential" },
      replies: [calls("bash", "edit"), calls("nothing"), says("end")],
    });
    await run.until("call-tools").steer("and look").settle();
    expect(run.eventLines()).toEqual([
      "AgentStart initial",
      "TurnStart 0 user",
      "MessageStart 0",
      "MessageEnd 0",
      "MessageStart 1",
      "MessageEnd 1",
      "ToolExecutionStart bash",
      "ToolExecutionEnd bash ok",
      "MessageStart 2",
      "MessageEnd 2",
      "ToolExecutionEnd edit error",
      "MessageStart 3",
      "MessageEnd 3",
      "TurnEnd 0 at 1 with 2",
      "TurnStart 1 continuation",
      "MessageStart 4",
      "MessageEnd 4",
      "MessageStart 5",
      "MessageEnd 5",
      "ToolExecutionStart nothing",
      "ToolExecutionEnd nothing error",
      "MessageStart 6",
      "MessageEnd 6",
      "TurnEnd 1 at 5 with 1",
      "TurnStart 2 continuation",
      "MessageStart 7",
      "MessageEnd 7",
      "TurnEnd 2 at 7 with 0",
      "AgentEnd answered 0..8",
    ]);
  });

  test("of a loop without a prompt do not repeat the messages before it [LOOP-03.2]", async () => {
    const first = await play({ limits: { maxTurns: 1 }, replies: [calls("bash")] }).settle();
    const told = first.lines.length;
    const run = await play({ kind: { type: "default" }, after: first, run: "later" }).settle();
    expect(run.eventLines()).toEqual([
      "AgentStart default",
      "TurnStart 0 continuation",
      `MessageStart ${told}`,
      `MessageEnd ${told}`,
      `TurnEnd 0 at ${told} with 0`,
      `AgentEnd answered ${told}..${told + 1}`,
    ]);
  });

  test("of the first turn name what started the loop [LOOP-07.1-3, LOOP-07.5, LOOP-06.1]", async () => {
    const first = await play({ limits: { maxTurns: 1 }, replies: [calls("bash")] }).settle();
    const trigger = async (type: "initial" | "default" | "branch" | "rerun") => {
      const tag = "2026-01-01T00:00:00Z";
      const kind = type === "branch" || type === "rerun" ? { type, tag } : { type: "default" as const };
      const again = type === "initial" ? {} : { kind, after: first, run: type, prompts: ["hi"] };
      const run = await play({ ...again, replies: [calls("bash")] }).settle();
      return run.eventLines().filter((line) => line.startsWith("TurnStart"));
    };
    expect(await trigger("initial")).toEqual(["TurnStart 0 user", "TurnStart 1 continuation"]);
    expect((await trigger("default"))[0]).toBe("TurnStart 0 continuation");
    expect((await trigger("rerun"))[0]).toBe("TurnStart 0 continuation");
    expect((await trigger("branch"))[0]).toBe("TurnStart 0 branch");
  });

  test("of a later loop name its parent, and the first loop has none [ID-05]", async () => {
    const run = await play({ mode: "interactive" }).settle().prompt("more").settle();
    expect(run.transcript.listEvents("s.test.1")[0]?.body).toEqual({
      type: "AgentStart",
      kind: { type: "initial" },
    });
    expect(run.transcript.listEvents("s.test.2")[0]?.body).toEqual({
      type: "AgentStart",
      kind: { type: "initial" },
      parentLoopId: "s.test.1",
    });
  });

  test("include exactly one message pair per prompt, inside the first turn, after its only TurnStart [LOOP-03.1, X-05]", async () => {
    const run = await play({ prompts: ["a", "b"], replies: [calls("bash")] }).settle();
    expect(run.eventLines().slice(0, 6)).toEqual([
      "AgentStart initial",
      "TurnStart 0 user",
      "MessageStart 0",
      "MessageEnd 0",
      "MessageStart 1",
      "MessageEnd 1",
    ]);
    const starts = run.eventLines().filter((line) => line === "MessageStart 0");
    expect(starts).toHaveLength(1);
    expect(run.eventLines().filter((line) => line.startsWith("TurnStart 0"))).toHaveLength(1);
  });

  test("of a parallel tool's end and its message are adjacent, whichever tool ends first [EVT-14.1]", async () => {
    const run = await play({ replies: [calls("bash", "edit")] })
      .until("call-tools")
      .tool(1)
      .tool(0, true)
      .settle();
    const lines = run.eventLines();
    const first = lines.indexOf("ToolExecutionStart bash");
    expect(lines.slice(first, first + 8)).toEqual([
      "ToolExecutionStart bash",
      "ToolExecutionStart edit",
      "ToolExecutionEnd edit ok",
      "MessageStart 3",
      "MessageEnd 3",
      "ToolExecutionEnd bash error",
      "MessageStart 2",
      "MessageEnd 2",
    ]);
  });

  test("name a child's loop at the end of its call [EVT-06.3]", async () => {
    const run = await play({ replies: [calls("bash")] }).until("call-tools");
    const digest = { branch: "main", isError: false, tokens: 3, preview: "", childLoopId: "child.1" };
    await run.performTool(run.call(0), false);
    await run.tell({ type: "tool-finished", call: 0, digest });
    expect(run.state.outbox.events.map(({ body }) => body)).toContainEqual(
      expect.objectContaining({ type: "ToolExecutionEnd", childLoopId: "child.1" }),
    );
  });

  test("carry the workflow's time [R11]", async () => {
    const run = await play().settle();
    const times = run.transcript.listEvents("s.test.1").map(({ atMs }) => atMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(1000);
    expect(times.at(-1)).toBeLessThanOrEqual(run.now);
  });
});

describe("model failures", () => {
  test("a failure becomes an empty answer, its events are closed, and the loop fails [LOOP-16.2, LOOP-24.1-3, PHI-13d, TYP-21, IRON-05]", async () => {
    const run = await play().until("call-model").fail("auth", "401: no such key").settle();
    expect(run.lines).toEqual(["prompt: hi", "error: 401: no such key"]);
    expect(run.eventLines().slice(-5)).toEqual([
      "MessageEnd 0",
      "MessageStart 1",
      "MessageEnd 1",
      "TurnEnd 0 at 1 with 0",
      "AgentEnd failed 0..2",
    ]);
    expect(run.state.last?.outcome).toEqual({ type: "failed", fault: "auth", message: "401: no such key" });
    expect(run.transcript.listEntries("main")[1]?.message).toMatchObject({
      role: "assistant",
      content: [{ type: "text", text: "" }],
      stopReason: "error",
      provider: "unknown",
      usage: usageOf(0, 0),
    });
  });

  test.each(["default", "rerun", "branch"] as const)(
    "every message that was begun is ended, and a continuation of kind %s follows the failure [PHI-13d]",
    async (type) => {
      const failed = await play({ replies: [calls("bash")] })
        .until("call-tools")
        .until("call-model")
        .fail("network")
        .settle();
      const count = (name: string) => failed.eventLines().filter((line) => line.startsWith(name)).length;
      expect(count("MessageStart")).toBe(4);
      expect(count("MessageEnd")).toBe(4);
      expect(failed.eventLines().at(-2)).toBe("TurnEnd 1 at 3 with 0");
      const tag = "2026-01-01T00:00:00Z";
      const kind: Continuation["kind"] = type === "default" ? { type } : { type, tag };
      const again = await play({ kind, after: failed, run: "later", replies: [says("back")] }).settle();
      expect(again.state.last?.outcome).toEqual({ type: "answered", stopReason: "stop" });
      expect(again.lines.slice(-2)).toEqual(["error: it was network", "model: back"]);
    },
  );

  test("the session continues after a failure, with the failed answer in the record [PHI-13d, X-09.4]", async () => {
    const run = await play({ mode: "interactive" }).until("call-model").fail("network").settle();
    await run.prompt("again").settle();
    expect(run.lines).toEqual(["prompt: hi", "error: it was network", "prompt: again", "model: done"]);
    expect(run.state.last?.outcome.type).toBe("answered");
  });

  test("steering that a failing turn consumed is recorded exactly once [PHI-13b]", async () => {
    const run = await play({ replies: [calls("bash")] })
      .until("call-tools")
      .steer("careful")
      .step();
    expect(run.phase).toBe("calling-model");
    await run.fail("auth").settle();
    expect(run.lines.slice(-2)).toEqual(["steering: careful", "error: it was auth"]);
  });

  test("messages that wait when a loop fails go to the run's inbox [PHI-13b]", async () => {
    const run = await play().until("call-model").steer("one").followUp("two").fail("auth").settle();
    expect(run.inboxTexts).toEqual(["one", "two"]);
    expect(run.state.last?.outcome.type).toBe("failed");
  });

  test("an answer that reports its own failure or abort ends the loop and stays in the record; its calls do not run [LOOP-16.2, TYP-21]", async () => {
    for (const stopReason of ["error", "aborted"] as const) {
      const run = await play({ replies: [{ ...calls("bash"), stopReason }] })
        .until("call-model")
        .step();
      expect(run.phase).toBe("closing");
      await run.settle();
      expect(run.executed).toEqual([]);
      expect(run.transcript.listEntries("main")[1]?.message).toMatchObject({ role: "assistant", stopReason });
      expect(run.state.last?.outcome.type).toBe(stopReason === "error" ? "failed" : "stopped");
    }
  });
});

describe("names of loops", () => {
  const model = {
    id: "large/4.5 beta",
    api: "anthropic_messages" as const,
    provider: "anthropic",
    baseUrl: "http://x",
    reasoning: false,
    contextWindow: 1,
    maxTokens: 1,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    headers: {},
  };

  test("the segment is the definition's own id, or vendor, model and thinking [ID-02.2]", () => {
    expect(buildLoopSegment({ configId: "mine", model, thinking: "high" })).toBe("mine");
    expect(buildLoopSegment({ model, thinking: "off" })).toBe("anthropic.large-4.5-beta");
    expect(buildLoopSegment({ model, thinking: "low" })).toBe("anthropic.large-4.5-beta.low");
  });
});
