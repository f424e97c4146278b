import { describe, expect, test } from "vitest";
import type { HookContexts } from "../../src/hooks/hook-point.ts";
import { HookRegistry, type HookRunOptions } from "../../src/hooks/hook-registry.ts";
import { startWithoutSandbox } from "../../src/platform/process/process-starter.ts";
import { HOOK_POINTS, isUpdatePoint } from "../../src/schema/hooks.ts";
import { BEFORE_TOOL, createWorkspace } from "./hook-script.ts";

const USAGE = { input: 1, output: 2, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 3 };
const TURN = { id: "run-1/4/before-turn", sessionId: "s1", loopId: "s1.main.1", turnIndex: 0 };
const UPDATE: HookContexts["before-tool-update"] = {
  ...TURN,
  toolCallId: "call-1",
  toolName: "bash",
  text: "line",
};
const AFTER_TURN: HookContexts["after-turn"] = { ...TURN, messages: [], usage: USAGE };

/** Every point with the context that it receives. */
const TOLD: HookContexts = {
  "before-task": { id: "run-1/1/task", sessionId: "s1" },
  "after-task": { id: "run-1/1/task", sessionId: "s1" },
  "before-loop": { ...TURN, messages: [] },
  "after-loop": { id: "run-1/5", sessionId: "s1", loopId: "s1.main.1", messages: [], usage: USAGE },
  "on-error": { ...TURN, error: "overloaded" },
  "before-turn": { ...TURN, messages: [] },
  "after-turn": AFTER_TURN,
  "on-text": { ...TURN, text: "Done." },
  "before-tool": BEFORE_TOOL,
  "after-tool": { ...TURN, toolCallId: "call-1", toolName: "bash", isError: true },
  "before-tool-update": UPDATE,
  "after-tool-update": UPDATE,
  "before-compaction": {
    id: "run-1/5",
    sessionId: "s1",
    loopId: "s1.main.1",
    estimatedTokens: 9,
    messageCount: 2,
  },
  "after-compaction": {
    id: "run-1/6",
    sessionId: "s1",
    loopId: "s1.main.1",
    messagesBefore: 2,
    messagesAfter: 1,
    tokensBefore: 9,
    tokensAfter: 4,
  },
};

function options(overrides: Partial<HookRunOptions> = {}): HookRunOptions {
  return {
    start: startWithoutSandbox,
    signal: new AbortController().signal,
    workspace: "/",
    ...overrides,
  };
}

const never = () => new Promise<never>(() => {});
const fails = () => {
  throw new Error("broken");
};

describe("points", () => {
  test.each(HOOK_POINTS)("%s: a registered hook receives the context of the point", async (point) => {
    const told: unknown[] = [];
    const registry = new HookRegistry().register("audit", {
      [point]: (context: unknown) => {
        told.push(context);
      },
    });
    const { decision, reports } = await registry.run(["audit"], point, TOLD[point], options());
    expect(told).toEqual([TOLD[point]]);
    expect(decision).toEqual({ type: "yes" });
    expect(reports).toMatchObject([{ hook: "audit", verdict: { type: "yes" } }]);
  });

  test("are fourteen, and each is a yes without a hook", async () => {
    expect(HOOK_POINTS).toHaveLength(14);
    for (const point of HOOK_POINTS) {
      expect(await new HookRegistry().run([], point, TOLD[point], options())).toEqual({
        decision: { type: "yes" },
        reports: [],
      });
    }
  });
});

describe("before something happens", () => {
  test("hooks are called in order, and the first no wins [CB-03.1]", async () => {
    const asked: string[] = [];
    const registry = new HookRegistry()
      .register("first", { "before-tool": () => void asked.push("first") })
      .register("second", {
        "before-tool": async ({ toolName }) => {
          asked.push("second");
          return { type: "no", reason: `${toolName} is closed today` };
        },
      })
      .register("third", { "before-tool": () => void asked.push("third") });
    const { decision, reports } = await registry.run(
      ["first", "second", "third"],
      "before-tool",
      BEFORE_TOOL,
      options(),
    );
    expect(asked).toEqual(["first", "second"]);
    expect(decision).toEqual({ type: "no", hook: "second", reason: "bash is closed today" });
    expect(reports.map(({ hook }) => hook)).toEqual(["first", "second"]);
  });

  test("false is a no, true and nothing are a yes", async () => {
    const registry = new HookRegistry()
      .register("true", { "before-loop": () => true })
      .register("nothing", { "before-loop": () => {} })
      .register("false", { "before-loop": async () => false });
    const context = TOLD["before-loop"];
    expect((await registry.run(["true", "nothing"], "before-loop", context, options())).decision).toEqual({
      type: "yes",
    });
    expect((await registry.run(["false"], "before-loop", context, options())).decision).toEqual({
      type: "no",
      hook: "false",
      reason: "no reason given",
    });
  });

  test.each([
    ["throws", fails, "threw", "broken"],
    ["hangs", never, "timed-out", "No answer within 0.03 s"],
    ["answers nonsense", () => "yes" as never, "wrong-answer", "string"],
    ["answers null", () => null as never, "wrong-answer", "object"],
  ])("a hook that %s counts as a no, unless its policy is to continue", async (_, hook, fault, text) => {
    const registry = new HookRegistry()
      .register("closed", { "before-turn": hook })
      .register("open", { "before-turn": hook }, { onFailure: "continue" });
    const limit = options({ timeoutMs: 30 });
    const closed = await registry.run(["closed"], "before-turn", TOLD["before-turn"], limit);
    expect(closed.decision).toMatchObject({
      type: "no",
      hook: "closed",
      reason: expect.stringMatching(new RegExp(`^Hook "closed" failed: .*${text}`)),
    });
    expect(closed.reports).toMatchObject([{ verdict: { type: "failed", fault } }]);
    const open = await registry.run(["open"], "before-turn", TOLD["before-turn"], limit);
    expect(open.decision).toEqual({ type: "yes" });
    expect(open.reports).toMatchObject([{ verdict: { type: "failed", fault } }]);
    // A single use overrides the registration.
    const strict = [{ name: "open", onFailure: "stop" as const }];
    expect((await registry.run(strict, "before-turn", TOLD["before-turn"], limit)).decision.type).toBe("no");
  });

  test("a name that is unknown or not registered for the point counts as a no with that reason", async () => {
    const registry = new HookRegistry().register("audit", { "after-turn": () => {} });
    const unknown = await registry.run(["audti"], "before-tool", BEFORE_TOOL, options());
    expect(unknown.decision).toMatchObject({
      type: "no",
      reason: expect.stringContaining('no hook "audti" on this worker; registered: audit'),
    });
    const elsewhere = await registry.run(["audit"], "before-tool", BEFORE_TOOL, options());
    expect(elsewhere.decision).toMatchObject({
      type: "no",
      reason: expect.stringContaining("does not listen at before-tool, only at after-turn"),
    });
  });

  test("commands and functions run in one order; a script's no and its failure are treated like a function's [CB-08.1]", async () => {
    const workspace = await createWorkspace({ "no.sh": "echo closed >&2; exit 1", "hangs.sh": "sleep 600" });
    const registry = new HookRegistry().register("yes", { "before-tool": () => true });
    const run = (command: string, policy = {}) =>
      registry.run(["yes", { command, ...policy }], "before-tool", BEFORE_TOOL, options({ workspace }));
    expect((await run("./no.sh")).decision).toEqual({ type: "no", hook: "./no.sh", reason: "closed" });
    expect((await run("./gone.sh")).decision.type).toBe("no");
    expect((await run("./gone.sh", { onFailure: "continue" })).decision).toEqual({ type: "yes" });
    // A policy for failures does not turn a no into a yes.
    expect((await run("./no.sh", { onFailure: "continue" })).decision.type).toBe("no");
    expect((await run("./hangs.sh", { timeoutMs: 200 })).reports).toMatchObject([
      { verdict: { type: "yes" } },
      { hook: "./hangs.sh", verdict: { type: "failed", fault: "timed-out" } },
    ]);
  });
});

describe("commands", () => {
  test("run at every point except those of a tool's output [CB-08.4]", async () => {
    const workspace = await createWorkspace({
      "told.py": "import json, os, sys\nprint(os.environ['HOLDFAST_HOOK'], sys.stdin.read())\nsys.exit(1)",
    });
    for (const point of HOOK_POINTS.filter((point) => !isUpdatePoint(point))) {
      const { decision, reports } = await new HookRegistry().run(
        [{ command: "./told.py" }],
        point,
        TOLD[point],
        options({ workspace }),
      );
      const printed = `${point} ${JSON.stringify({ hook: point, ...TOLD[point] })}`;
      expect(reports).toMatchObject([{ hook: "./told.py", verdict: { type: "no", reason: printed } }]);
      const meant = point === "on-text" ? "continue" : point.startsWith("before-") ? "no" : "yes";
      expect(decision.type).toBe(meant);
    }
  });
});

describe("answers of one point", () => {
  const registry = new HookRegistry()
    .register("fine", { "before-turn": () => true, "on-text": () => true })
    .register("one", { "before-turn": () => ({ type: "inject", text: "first" }) })
    .register("two", { "before-turn": () => ({ type: "inject", text: "second" }) })
    .register("long", { "before-turn": () => ({ type: "inject", text: "é".repeat(1025) }) })
    .register("ends", { "before-turn": () => ({ type: "end", text: "spent" }) })
    .register("texts", { "before-turn": () => ({ type: "force-text" }) })
    .register("sums", { "before-turn": () => ({ type: "force-text", text: "sum up" }) })
    .register("tooMuch", { "before-turn": () => ({ type: "force-text", text: "é".repeat(1025) }) })
    .register("late", { "on-text": () => ({ type: "force-text" }) as never })
    .register("judge", { "on-text": () => ({ type: "continue" }) })
    .register("strict", { "on-text": () => ({ type: "no", reason: "test it" }) })
    .register("broken", { "on-text": fails })
    .register("lost", { "before-tool": () => ({ type: "continue" }) as never });
  const decided = async <P extends "before-turn" | "on-text" | "before-tool">(point: P, ...names: string[]) =>
    (await registry.run(names, point, TOLD[point], options())).decision;

  test("messages are collected in order; an end skips the remaining hooks [IRON-03.1-2, IRON-04.1-2]", async () => {
    expect(await decided("before-turn", "one", "fine", "two")).toEqual({
      type: "yes",
      notices: ["first", "second"],
    });
    expect(await decided("before-turn", "one", "ends", "two")).toEqual({
      type: "end",
      hook: "ends",
      text: "spent",
    });
  });

  test("an answer without calls is required together with messages, and only before a turn [IRON-05]", async () => {
    expect(await decided("before-turn", "texts")).toEqual({ type: "yes", textOnly: true });
    expect(await decided("before-turn", "one", "texts", "sums", "two")).toEqual({
      type: "yes",
      notices: ["first", "sum up", "second"],
      textOnly: true,
    });
    expect(await decided("before-turn", "sums", "ends")).toMatchObject({ type: "end" });
    const { reports } = await registry.run(["late"], "on-text", TOLD["on-text"], options());
    expect(reports[0]?.verdict).toMatchObject({ type: "failed", fault: "wrong-answer" });
  });

  test.each(["long", "tooMuch"])("a message over 2 KiB is invalid: %s", async (name) => {
    expect(await decided("before-turn", name)).toMatchObject({
      type: "no",
      reason: expect.stringContaining("2050 bytes; use at most 2048"),
    });
  });

  test("after an answer, a no continues the loop with its reason, and a failure lets it end [IRON-07.1-2]", async () => {
    expect(await decided("on-text", "fine", "judge", "strict")).toEqual({ type: "continue", hook: "judge" });
    expect(await decided("on-text", "strict")).toEqual({ type: "continue", hook: "strict", text: "test it" });
    expect(await decided("on-text", "broken", "fine")).toEqual({ type: "yes" });
  });

  test("are a failure at other points", async () => {
    expect(await decided("before-tool", "lost")).toMatchObject({
      type: "no",
      reason: expect.stringContaining('"continue", which is not allowed at before-tool'),
    });
  });
});

describe("after something happened", () => {
  test("all hooks run, whatever one of them does, and nothing is stopped", async () => {
    const told: string[] = [];
    const registry = new HookRegistry()
      .register("fails", { "after-turn": fails })
      .register("hangs", { "after-turn": never }, { timeoutMs: 20 })
      .register("no", { "after-turn": () => false })
      .register("last", { "after-turn": () => void told.push("last") });
    const { decision, reports } = await registry.run(
      ["fails", "hangs", "no", "last"],
      "after-turn",
      AFTER_TURN,
      options(),
    );
    expect(decision).toEqual({ type: "yes" });
    expect(told).toEqual(["last"]);
    expect(reports.map(({ verdict }) => verdict.type)).toEqual(["failed", "failed", "no", "yes"]);
  });

  test("a hook whose failure must stop the run reports it, and the others still run", async () => {
    const told: string[] = [];
    const registry = new HookRegistry()
      .register("ledger", { "after-turn": fails }, { onFailure: "stop" })
      .register("last", { "after-turn": () => void told.push("last") });
    const run = await registry.run(["ledger", "last"], "after-turn", AFTER_TURN, options());
    expect(run.decision).toEqual({ type: "no", hook: "ledger", reason: 'Hook "ledger" failed: broken' });
    expect(told).toEqual(["last"]);
  });
});

describe("hooks of a tool's output", () => {
  test("answer synchronously; the first no drops the update [CB-03.2]", () => {
    const registry = new HookRegistry()
      .register("hide", { "before-tool-update": ({ text }) => !text.includes("secret") })
      .register("count", { "before-tool-update": () => true });
    const run = (text: string) =>
      registry.runUpdate(["hide", "count"], "before-tool-update", { ...UPDATE, text });
    expect(run("plain").decision).toEqual({ type: "yes" });
    expect(run("a secret")).toMatchObject({ decision: { type: "no", hook: "hide" }, reports: [{}] });
  });

  test("fail if they wait, throw, or are commands [CB-03.2]", () => {
    const registry = new HookRegistry()
      .register("waits", { "before-tool-update": (async () => true) as never })
      .register("rejects", { "before-tool-update": (async () => fails()) as never })
      .register("throws", { "before-tool-update": fails });
    for (const use of ["waits", "rejects", "throws", { command: "true" }]) {
      expect(registry.runUpdate([use], "before-tool-update", UPDATE).decision.type).toBe("no");
      expect(registry.runUpdate([use], "after-tool-update", UPDATE).decision.type).toBe("yes");
    }
  });
});

describe("cancellation", () => {
  test("ends the wait, aborts the hook's signal, skips the others, and is never a yes", async () => {
    const cancel = new AbortController();
    const seen: string[] = [];
    const registry = new HookRegistry()
      .register(
        "slow",
        {
          "before-tool": (_, signal) => {
            signal.addEventListener("abort", () => seen.push("told"));
            cancel.abort();
            return never();
          },
        },
        { onFailure: "continue" },
      )
      .register("next", { "before-tool": () => void seen.push("next") });
    const run = await registry.run(
      ["slow", "next"],
      "before-tool",
      BEFORE_TOOL,
      options({ signal: cancel.signal }),
    );
    expect(run.decision).toMatchObject({ type: "no", hook: "slow" });
    expect(run.reports).toMatchObject([{ verdict: { type: "failed", fault: "cancelled" } }]);
    expect(seen).toEqual(["told"]);
  });
});

describe("registration rejects", () => {
  test("an empty or taken name, a hook without functions, an invalid time limit", async () => {
    const registry = new HookRegistry().register("a", { "before-tool": () => true });
    expect(() => registry.register(" ", { "before-tool": () => true })).toThrow("must have a name");
    expect(() => registry.register("a", { "before-tool": () => true })).toThrow("already registered");
    expect(() => registry.register("b", {})).toThrow("has no function for any point");
    for (const timeoutMs of [0, -1, Number.NaN, 2 ** 31]) {
      expect(() => registry.register("c", { "before-tool": () => true }, { timeoutMs })).toThrow(RangeError);
      const uses = [{ name: "a", timeoutMs }];
      await expect(registry.run(uses, "before-tool", BEFORE_TOOL, options())).rejects.toThrow(RangeError);
    }
    expect(registry.names).toEqual(["a"]);
  });
});

describe("nothing that a hook throws or answers escapes its failure", () => {
  const ask = (hook: () => unknown) =>
    new HookRegistry()
      .register("odd", { "before-turn": hook as never })
      .run(["odd"], "before-turn", TOLD["before-turn"], options());
  const throwing = (thrown: unknown) => () => {
    throw thrown;
  };

  test.each([
    ["an error whose message is an object", throwing(Object.assign(new Error(), { message: { code: 1 } }))],
    ["an object that cannot be a text", throwing(Object.create(null))],
    ["a symbol", throwing(Symbol("no"))],
    [
      "an answer that throws when it is read",
      () => ({
        get type() {
          throw new Error("no");
        },
      }),
    ],
  ])("%s", async (_what, hook) => {
    const { decision } = await ask(hook);
    expect(decision).toMatchObject({ type: "no", hook: "odd", reason: expect.stringContaining("failed") });
  });
});
