import { describe, expect, test } from "vitest";
import { CONTINUE_TEXT } from "../../src/core/machine/hook-results.ts";
import type { RunHookCommand } from "../../src/core/machine/state/activity-command.ts";
import type { HookResult } from "../../src/core/machine/state/digest.ts";
import { HOOK_POINTS } from "../../src/schema/hooks.ts";
import { play } from "./support/run.ts";
import { calls, large, says, usageOf } from "./support/script.ts";

const ALL = HOOK_POINTS;
const YES: HookResult = { type: "yes" };
const no = (reason = "not now"): HookResult => ({ type: "no", hook: "guard", reason });
/** These results at this point, "yes" at all others. */
const saying =
  (point: string, ...words: readonly HookResult[]) =>
  ({ question }: RunHookCommand): readonly HookResult[] =>
    question.point === point ? words : "calls" in question ? question.calls.map(() => YES) : [YES];
const askedAt = (run: ReturnType<typeof play>) => run.hooked.map(({ line }) => line);
const big = (text: string) => says(text, { usage: usageOf(500, 1) });

describe("the order of hooks and events", () => {
  test("matches the source projects, with a hook at every point [CB-04.1-2, EVT-13.1-3, EVT-14.1, X-03, X-02.1, TEST-09.1]", async () => {
    const run = play({
      hooks: ALL,
      prompts: ["hi", "there"],
      replies: [calls("bash", "edit"), large(calls("read")), says("done")],
      compactAbove: 300,
    });
    await run.settle();
    expect(run.story()).toEqual([
      "AgentStart initial",
      "before-turn 0",
      "TurnStart 0 user",
      "MessageStart 0",
      "MessageEnd 0",
      "MessageStart 1",
      "MessageEnd 1",
      "MessageStart 2",
      "MessageEnd 2",
      "before-tool bash edit",
      "ToolExecutionStart bash",
      "ToolExecutionStart edit",
      "ToolExecutionEnd bash ok",
      "ToolExecutionEnd edit ok",
      "after-tool bash edit",
      "MessageStart 3",
      "MessageEnd 3",
      "MessageStart 4",
      "MessageEnd 4",
      "TurnEnd 0 at 2 with 2",
      "after-turn 0",
      "before-turn 1",
      "TurnStart 1 continuation",
      "MessageStart 5",
      "MessageEnd 5",
      "before-tool read",
      "ToolExecutionStart read",
      "ToolExecutionEnd read ok",
      "after-tool read",
      "MessageStart 6",
      "MessageEnd 6",
      "TurnEnd 1 at 5 with 1",
      "after-turn 1",
      "before-turn 2",
      "TurnStart 2 continuation",
      "before-compaction",
      "CompactionStarted",
      "CompactionEnded",
      "after-compaction",
      "MessageStart 8",
      "MessageEnd 8",
      "TurnEnd 2 at 8 with 0",
      "after-turn 2",
      "on-text",
      "AgentEnd answered 0..9",
    ]);
    expect(askedAt(run).at(-1)).toBe("after-task");
  });

  test("has on-error before the TurnEnd of a failed answer, and after-turn after it [LOOP-16.2, CB-06.1-2, X-03, EVT-17.1]", async () => {
    const run = play({ hooks: ALL });
    await run.until("call-model").fail("api").settle();
    expect(run.story().slice(-5)).toEqual([
      "MessageEnd 1",
      "on-error",
      "TurnEnd 0 at 1 with 0",
      "after-turn 0",
      "AgentEnd failed 0..2",
    ]);
  });

  test("includes on-error for an answer with the stop reason error [LOOP-16.2, CB-06.2, CB-01.2]", async () => {
    const run = await play({
      hooks: ["on-error"],
      replies: [says("half", { stopReason: "error" })],
    }).settle();
    expect(askedAt(run)).toEqual(["on-error"]);
    expect(run.story().slice(-3)).toEqual(["on-error", "TurnEnd 0 at 1 with 0", "AgentEnd failed 0..2"]);
  });

  test("has no on-error after an abort, but after-turn exactly once [LOOP-16.3, CB-06.1-2]", async () => {
    const run = play({ hooks: ALL });
    await run.until("call-model").stop().setBack({ type: "cancelled" });
    expect(run.command).toMatchObject({ type: "run-hook", isBrief: true });
    await run.settle();
    expect(askedAt(run)).toEqual(["before-turn 0", "after-turn 0", "after-task"]);
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
  });

  test("has no on-error for a call cancelled without a stop, nor for an answer that fails after a stop [LOOP-16.3, PHI-13c]", async () => {
    const cancelled = await play({ hooks: ["on-error"] })
      .until("call-model")
      .setBack({ type: "cancelled" });
    expect(askedAt(await cancelled.settle())).toEqual([]);
    const failed = play({ hooks: ["on-error"], replies: [says("half", { stopReason: "error" })] });
    expect(askedAt(await failed.until("call-model").stop().settle())).toEqual([]);
  });

  test("has no before-turn for a turn that a limit forbids [LOOP-12.1, X-02.1]", async () => {
    const run = await play({
      hooks: ["before-turn"],
      limits: { maxTurns: 1 },
      replies: [calls("bash")],
    }).settle();
    expect(askedAt(run)).toEqual(["before-turn 0"]);
    expect(run.state.last?.outcome).toMatchObject({ type: "limit-reached" });
  });

  test("has both hooks around each call when calls run one at a time [EVT-14.1]", async () => {
    const run = await play({
      hooks: ["before-tool", "after-tool"],
      replies: [calls("bash", "edit")],
      strategy: { type: "sequential" },
    }).settle();
    expect(askedAt(run)).toEqual([
      "before-tool bash",
      "after-tool bash",
      "before-tool edit",
      "after-tool edit",
    ]);
  });
});

describe("without hooks", () => {
  test("no hook command is issued, and close-loop carries no definition hash", async () => {
    const run = await play({ replies: [calls("bash"), says("done")], compactAbove: 10 }).settle();
    expect(run.commands.map(({ type }) => type)).not.toContain("run-hook");
    expect(run.commands.find(({ type }) => type === "close-loop")).not.toHaveProperty("definitionHash");
  });
});

describe("before-turn", () => {
  test("a denial ends the loop without a turn and moves queued messages to the inbox [CB-05.2, LOOP-13, PHI-13b, X-02.2-3]", async () => {
    const run = play({ hooks: ["before-turn", "after-turn"], words: saying("before-turn", no()) });
    await run.until("run-hook").steer("wait").followUp("and then").settle();
    expect(run.story()).toEqual([
      "AgentStart initial",
      "before-turn 0",
      "MessageStart 0",
      "MessageEnd 0",
      "AgentEnd ended 0..1",
    ]);
    expect(run.inboxTexts).toEqual(["wait", "and then"]);
    expect(run.state.last?.outcome).toEqual({ type: "ended", by: "guard", reason: "not now" });
  });

  test("an end result ends the loop with the hook's reason, before any model call [IRON-03.1, IRON-04.1]", async () => {
    const words = saying("before-turn", { type: "end", hook: "guard", text: "the month is over" });
    const run = await play({ hooks: ["before-turn"], words }).settle();
    expect(run.state.last?.outcome).toEqual({ type: "ended", by: "guard", reason: "the month is over" });
    expect(run.asked).toEqual([]);
  });

  test("adds its notices to the turn that begins, after the user's messages [IRON-03.2, IRON-04.2]", async () => {
    const run = play({
      hooks: ["before-turn"],
      words: ({ turn }) => [turn === 1 ? { type: "yes", notices: ["look out"] } : YES],
      replies: [calls("bash"), says("done")],
    });
    await run.until("call-tools").steer("hurry").settle();
    expect(run.lines).toEqual([
      "prompt: hi",
      "model: calling +bash",
      "bash: bash ok",
      "steering: hurry",
      "machine: look out",
      "model: done",
    ]);
  });

  test("lets no turn begin when the follow-up that caused it is cleared meanwhile", async () => {
    const run = play({ hooks: ["before-turn"], replies: [says("one"), says("two")] });
    await run.until("call-model").followUp("more").step();
    expect(run.command).toMatchObject({ type: "run-hook", turn: 1 });
    await run.clear("all").settle();
    expect(run.lines).toEqual(["prompt: hi", "model: one"]);
    expect(run.state.last?.outcome).toMatchObject({ type: "answered" });
  });
});

describe("before-tool", () => {
  const lineOf = (run: ReturnType<typeof play>, name: string) =>
    run.lines.filter((line) => line.startsWith(name));

  test("a denial gives one ToolExecutionEnd with an error and no ToolExecutionStart, and the call never runs; its sibling does [CB-05.3, X-04, PHI-13k.1, TOOL-13]", async () => {
    const words = saying("before-tool", no("closed"), YES);
    const run = play({ hooks: ["before-tool", "after-tool"], words, replies: [calls("bash", "edit")] });
    await run.settle();
    expect(run.executed.map(({ toolName }) => toolName)).toEqual(["edit"]);
    expect(lineOf(run, "bash")).toEqual([
      'bash!: Tool call skipped by before_tool_execution hook "guard": closed',
    ]);
    expect(run.story().filter((line) => line.includes("bash"))).toEqual([
      "before-tool bash edit",
      "ToolExecutionEnd bash error",
    ]);
    expect(askedAt(run)).toContain("after-tool edit");
  });

  test("does not run for denied, unknown or invalid calls [PHI-13k.2]", async () => {
    const run = await play({
      hooks: ["before-tool"],
      permissions: { rules: [{ tool: "edit", outcome: "deny" }] },
      replies: [calls("edit", "unknown", { name: "read", invalid: true }, "bash")],
    }).settle();
    expect(askedAt(run)).toEqual(["before-tool bash"]);
    expect(askedAt(await play({ hooks: ["before-tool"], replies: [calls("unknown")] }).settle())).toEqual([]);
  });

  test("runs before the user approves a call; a call that it denies needs no approval [CB-05.3]", async () => {
    const ask = { rules: [{ tool: "bash", outcome: "ask" as const }] };
    const refused = play({
      hooks: ["before-tool"],
      words: saying("before-tool", no()),
      permissions: ask,
      replies: [calls("bash")],
    });
    expect((await refused.settle()).command.type).toBe("finish");
    expect(refused.executed).toEqual([]);
    expect(lineOf(refused, "bash")).toEqual([expect.stringMatching(/^bash!: /)]);
    const asked = play({ hooks: ["before-tool"], permissions: ask, replies: [calls("bash")] });
    await asked.until("wait").answer("c0.0").settle();
    expect(askedAt(asked)).toEqual(["before-tool bash"]);
    expect(lineOf(asked, "bash")).toEqual(["bash: bash ok"]);
  });

  test("yields to steering that arrives meanwhile: the next call is skipped", async () => {
    const run = play({
      hooks: ["before-tool"],
      replies: [calls("bash", "edit")],
      strategy: { type: "sequential" },
    });
    await run.until("call-tools").step();
    expect(run.command).toMatchObject({ type: "run-hook" });
    await run.steer("no, stop").settle();
    expect(run.executed.map(({ toolName }) => toolName)).toEqual(["bash"]);
    expect(lineOf(run, "edit")).toEqual(["edit!: Skipped due to queued user message."]);
  });
});

describe("before-compaction", () => {
  test("receives the size of the context, and after-compaction the result, with the values of the events [CMP-15.1, CMP-15.3, EVT-09.1-2]", async () => {
    const run = await play({
      hooks: ["before-compaction", "after-compaction"],
      replies: [large(calls("bash")), large(calls("bash")), large(calls("bash")), says("end")],
      compactAbove: 300,
    }).settle();
    const asks = run.commands.flatMap((command) => (command.type === "run-hook" ? [command.question] : []));
    // A compaction that changes nothing has no event and no after-compaction.
    const before = asks.findIndex(({ point }) => point === "after-compaction") - 1;
    const events = run.transcript.listEvents("s.test.1").map(({ body }) => body);
    const started = events.find(({ type }) => type === "CompactionStarted");
    const ended = events.find(({ type }) => type === "CompactionEnded");
    if (started?.type !== "CompactionStarted" || ended?.type !== "CompactionEnded") {
      throw new Error("nothing was compacted");
    }
    const { estimatedTokens, messageCount } = started;
    expect(asks[before]).toEqual({ point: "before-compaction", estimatedTokens, messageCount });
    expect(asks[before + 1]).toEqual({
      point: "after-compaction",
      messagesBefore: ended.messagesBefore,
      messagesAfter: ended.messagesAfter,
      tokensBefore: ended.estimatedTokensBefore,
      tokensAfter: ended.estimatedTokensAfter,
    });
  });

  test("a denial skips this cycle: the model is called with the unchanged context, and the hook runs once [CB-05.5, CMP-15.2]", async () => {
    const run = play({
      hooks: ["before-compaction", "after-compaction"],
      words: saying("before-compaction", no()),
      replies: [big("one"), says("two")],
      compactAbove: 100,
    });
    await run.until("call-model").followUp("more").settle();
    expect(askedAt(run)).toEqual(["before-compaction"]);
    expect(run.commands.map(({ type }) => type)).not.toContain("compact");
    expect(run.lines.at(-1)).toBe("model: two");
  });

  test("a denial after an overflow fails the run with the overflow, and the error names the hook [CB-05.5]", async () => {
    const run = play({
      hooks: ["before-compaction"],
      words: saying("before-compaction", no()),
      compactAbove: 9999,
    });
    await run.until("call-model").fail("overflow", "too long").settle();
    expect(run.state.last?.outcome).toMatchObject({
      type: "failed",
      fault: "overflow",
      message: expect.stringContaining('denied by hook "guard": not now'),
    });
  });
});

describe("on-text", () => {
  test("yes lets the loop end; the hook does not run when calls or queued messages continue the loop [IRON-07.1]", async () => {
    const run = play({ hooks: ["on-text"], replies: [calls("bash"), says("one"), says("two")] });
    await run.until("call-tools").followUp("more").settle();
    expect(run.lines.at(-1)).toBe("model: two");
    expect(askedAt(run)).toEqual(["on-text"]);
  });

  test("does not run for an empty answer, an answer that the vendor filtered, or structured output [IRON-07.1]", async () => {
    const answers = [says(""), says("half", { stopReason: "guardRail" })];
    const output = { output: "text" as const, replies: [says('{"count":1}')] };
    for (const setting of [...answers.map((answer) => ({ replies: [answer] })), output]) {
      const run = await play({ hooks: ["on-text"], light: true, ...setting }).settle();
      expect(askedAt(run)).toEqual([]);
      expect(run.state.last?.outcome).toMatchObject({ type: "answered" });
    }
  });

  test("continue starts another turn, with the hook's text or the default text [IRON-07.2]", async () => {
    const run = await play({
      hooks: ["on-text"],
      words: ({ turn }) => [
        turn === 1
          ? { type: "continue", hook: "guard", text: "test it" }
          : turn === 2
            ? { type: "continue", hook: "guard" }
            : YES,
      ],
      replies: [says("one"), says("two"), says("three")],
    }).settle();
    expect(run.lines).toEqual([
      "prompt: hi",
      "model: one",
      "machine: test it",
      "model: two",
      `machine: ${CONTINUE_TEXT}`,
      "model: three",
    ]);
  });

  test("continuing after every text with a limit of three turns gives three answers, then the limit [IRON-13]", async () => {
    const run = await play({
      hooks: ["on-text"],
      words: saying("on-text", { type: "continue", hook: "guard" }),
      replies: [says("one"), says("two"), says("three"), says("four")],
      limits: { maxTurns: 3 },
    }).settle();
    expect(run.lines.filter((line) => line.startsWith("model"))).toHaveLength(3);
    expect(run.lines.at(-1)).toBe("machine: [Agent stopped: Max turns reached (3/3)]");
    expect(run.state.last?.outcome).toMatchObject({ type: "limit-reached" });
  });

  test("steering that arrives meanwhile is delivered with the hook's text, before it", async () => {
    const words = saying("on-text", { type: "continue", hook: "guard", text: "test it" });
    const run = play({ hooks: ["on-text"], words, replies: [says("one")], limits: { maxTurns: 2 } });
    await run.until("run-hook").steer("wait").step();
    await run.until("call-model").step();
    expect(run.lines.slice(2, 4)).toEqual(["steering: wait", "machine: test it"]);
  });
});

describe("a loop that a hook rejects", () => {
  test("has one AgentEnd and no AgentStart; earlier steering goes to the inbox [LOOP-02.2, CB-05.1]", async () => {
    const run = play({ hooks: ALL, guarded: "bomb", prompts: ["a bomb"], held: true });
    await run.steer("a shelter, I mean").tell({ type: "started" }).settle();
    expect(run.story()).toEqual(["AgentEnd rejected 0..0"]);
    expect(run.inboxTexts).toEqual(["a shelter, I mean"]);
    expect(run.state.last?.outcome).toEqual({ type: "rejected", reason: 'not "bomb"', by: "guard" });
    expect(askedAt(run)).toEqual([]);
    expect(run.commands.find(({ type }) => type === "close-loop")).not.toHaveProperty("definitionHash");
  });

  test("leaves an interactive run waiting for another prompt", async () => {
    const run = await play({
      hooks: ["after-task"],
      guarded: "bomb",
      prompts: ["a bomb"],
      mode: "interactive",
    }).settle();
    expect(run.phase).toBe("waiting");
    await run.prompt("hello").settle();
    expect(run.lines).toEqual(["prompt: hello", "model: done"]);
  });
});

describe("after-task", () => {
  test("runs once, when the run ends: not while an interactive run waits [CB-07.2]", async () => {
    const run = await play({ hooks: ["after-task"], mode: "interactive" }).settle();
    expect(run.phase).toBe("waiting");
    await run.prompt("again").settle();
    expect(askedAt(run)).toEqual([]);
    await run.stop();
    expect(run.command).toMatchObject({ type: "run-hook", loopId: "" });
    await run.steer("too late").step().settle();
    expect(askedAt(run)).toEqual(["after-task"]);
    expect(run.inboxTexts).toEqual(["too late"]);
  });
});

describe("a stop while hooks run", () => {
  const stopAt = async (point: string) => {
    const run = play({ hooks: ALL, replies: [calls("bash"), big("one")], compactAbove: 100 });
    for (let steps = 0; steps < 100; steps++) {
      const { command } = run;
      if (command.type === "run-hook" && command.question.point === point) break;
      if (point === "on-error" && command.type === "call-model") await run.fail("api");
      else await run.step();
    }
    expect(run.command).toMatchObject({ type: "run-hook", question: { point } });
    return run.stop().setBack({ type: "cancelled" }, "claimed");
  };

  test.each(["before-turn", "before-tool", "after-tool", "after-turn", "on-text"])(
    "at %s ends the run as stopped and starts no further model or tool call",
    async (point) => {
      const run = await stopAt(point);
      const before = run.asked.length + run.executed.length;
      await run.settle();
      expect(run.asked.length + run.executed.length).toBe(before);
      expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
    },
  );

  test("at before-compaction aborts the turn, which still gets TurnEnd and after-turn", async () => {
    const run = play({
      hooks: ALL,
      replies: [{ ...calls("bash"), usage: usageOf(500, 1) }],
      compactAbove: 100,
    });
    while (!(run.command.type === "run-hook" && run.command.question.point === "before-compaction"))
      await run.step();
    await run.stop().setBack({ type: "cancelled" }).settle();
    expect(run.story().slice(-5)).toEqual([
      "MessageStart 3",
      "MessageEnd 3",
      "TurnEnd 1 at 3 with 0",
      "after-turn 1",
      "AgentEnd stopped 0..4",
    ]);
  });

  test("does not retry a before-turn hook that started before it, but retries an after-turn hook that started after it", async () => {
    const run = await play({ hooks: ["before-turn", "after-turn"] })
      .until("run-hook")
      .stop()
      .lose("claimed");
    expect(run.state.phase.type).toBe("closing");
    const told = await play({ hooks: ["before-turn", "after-turn"] })
      .until("call-model")
      .stop();
    await told.setBack({ type: "cancelled" }).lose("claimed").settle();
    expect(askedAt(told)).toEqual(["before-turn 0", "after-turn 0", "after-turn 0"]);
  });

  test("at on-error leaves the failure unchanged", async () => {
    expect((await (await stopAt("on-error")).settle()).state.last?.outcome).toMatchObject({
      type: "failed",
      fault: "api",
    });
  });
});

describe("hooks that cannot be called", () => {
  test("are called again when their worker dies, unless the decision is already stored", async () => {
    const run = await play({ hooks: ["before-turn"] }).until("run-hook");
    await run.lose("claimed").lose("stored").settle();
    expect(askedAt(run)).toEqual(["before-turn 0", "before-turn 0"]);
    expect(run.lines.at(-1)).toBe("model: done");
  });

  test("end the loop with a reason before a turn (after three attempts), and deny the calls before tools", async () => {
    const run = await play({ hooks: ["before-turn"] })
      .until("run-hook")
      .lose()
      .lose()
      .lose()
      .settle();
    expect(run.state.last?.outcome).toMatchObject({
      type: "ended",
      reason: expect.stringContaining("3 workers"),
    });
    const failed = await play({ hooks: ["before-tool"], replies: [calls("bash", "edit")] }).until("run-hook");
    await failed.fail("store").settle();
    expect(failed.executed).toEqual([]);
    expect(failed.lines[2]).toContain("could not be called");
  });

  test("after a step change nothing, whereas a denial by after-tool ends the loop after the tool results", async () => {
    const open = play({ hooks: ["after-turn", "after-tool"], replies: [calls("bash")] });
    await open.until("run-hook").fail("store").until("run-hook").fail("store").settle();
    expect(open.lines.at(-1)).toBe("model: done");
    const closed = await play({
      hooks: ["after-tool"],
      words: saying("after-tool", no("no ledger")),
      replies: [calls("bash")],
    }).settle();
    expect(closed.state.last?.outcome).toMatchObject({
      type: "ended",
      by: "guard",
      reason: expect.stringContaining("no ledger"),
    });
    expect(closed.lines.at(-1)).toBe("bash: bash ok");
  });
});
