import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { HookContexts } from "../../src/hooks/hook-point.ts";
import { readProcess } from "../../src/platform/process/process-table.ts";
import { HOOK_POINTS, type HookPoint } from "../../src/schema/hooks.ts";
import { defineTool } from "../../src/tools/tool.ts";
import type { HoldfastWorkerOptions } from "../../src/worker.ts";
import { promptUpdate, steerSignal, stopSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "./support/gates.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

type Hooks = NonNullable<HoldfastWorkerOptions["hooks"]>;
type Told = { readonly sessionId: string; readonly id: string; readonly loopId?: string };
type Call = {
  readonly point: HookPoint;
  readonly session: string;
  readonly told: Told;
  readonly events: number;
};

const KEY_SHAPE = "sk-aaaabbbbccccddddeeeeffff";

/** Every hook call, with how many events of its loop were recorded by then. */
const log: Call[] = [];
let stage: TestEnvironment;

async function eventsOf(loopId: string | undefined): Promise<number> {
  return loopId === undefined ? 0 : (await stage.transcript.readEvents(loopId, 0)).length;
}

/** Listens at every point and always says yes. */
const witness = Object.fromEntries(
  HOOK_POINTS.map((point) => [
    point,
    point.endsWith("-update")
      ? (told: Told) => void log.push({ point, session: told.sessionId, told, events: seenByTool })
      : async (told: Told) =>
          void log.push({ point, session: told.sessionId, told, events: await eventsOf(told.loopId) }),
  ]),
) as Hooks[string];

/** Output reaches a hook at once, so the tool checks before it prints. */
let seenByTool = 0;
const talk = defineTool({
  name: "talk",
  description: "Prints its words",
  inputSchema: z.object({ words: z.array(z.string()) }),
  execute: async ({ words }, { onUpdate: update }) => {
    seenByTool = await eventsOf((await stage.transcript.readLoops(talking))[0]?.loopId);
    for (const word of words) update(word);
    return "talked";
  },
});
/** The session whose tool talks. */
let talking = "";

const gates = new Gates();

const hooks: Hooks = {
  witness,
  porter: { "before-turn": () => gates.get("door").pass() },
  guard: {
    "before-task": ({ sessionId }) => !sessionId.startsWith("closed"),
    "before-loop": ({ messages }) =>
      JSON.stringify(messages).includes("bomb") ? { type: "no", reason: `no bombs ${KEY_SHAPE}` } : true,
    "before-turn": ({ turnIndex }) => (turnIndex === 0 ? { type: "no", reason: "not today" } : true),
    "before-tool": ({ arguments: args }) =>
      JSON.stringify(args).includes("rm") ? { type: "no", reason: "rm is closed" } : true,
    "before-tool-update": ({ text }) => !text.includes("secret"),
    "before-compaction": () => false,
  },
  coach: {
    "before-turn": ({ turnIndex }) =>
      turnIndex === 1 ? { type: "inject", text: `mind the tests ${KEY_SHAPE}` } : { type: "yes" },
    "on-text": ({ text }) =>
      text === "Early." ? { type: "continue", text: "and the tests?" } : { type: "yes" },
  },
  budget: { "before-turn": () => ({ type: "end", text: "the money is spent" }) },
  closer: {
    "before-turn": ({ turnIndex }) =>
      turnIndex === 1 ? { type: "force-text", text: "Finish now." } : { type: "yes" },
  },
  hangs: {
    "before-turn": () => new Promise(() => undefined),
    "after-turn": () => new Promise(() => undefined),
  },
  throws: {
    "before-turn": () => {
      throw new Error("out of order");
    },
    "after-turn": () => {
      throw new Error(`out of order ${KEY_SHAPE}`);
    },
  },
  rewrites: {
    "before-turn": ({ messages }) => {
      for (const { content } of messages as unknown as { content: { text?: string }[] }[]) {
        for (const part of content) part.text = "rewritten";
      }
    },
  },
  nonsense: { "before-tool": () => ({ type: "inject", text: "x" }) as never },
};

beforeAll(async () => {
  const filters = { never: () => ({ type: "reject" as const, reason: "never" }) };
  stage = await openTestEnvironment({ hooks, filters, tools: [talk] });
});
afterAll(() => stage.close());

const everywhere = Object.fromEntries(HOOK_POINTS.map((point) => [point, ["witness"]]));
const call = (name: string, args: object) => ({ name, arguments: args });

const calls = (session: TestSession) => log.filter((one) => one.session === session.id);
const pointsOf = (session: TestSession) => calls(session).map(({ point }) => point);

/** Hook calls and events in one sequence. */
async function story(session: TestSession): Promise<string[]> {
  const events = await session.readEventTypes();
  const inLoop = calls(session).filter(({ told }) => told.loopId !== undefined);
  const outside = calls(session).filter(({ told }) => told.loopId === undefined);
  const at = (count: number) => inLoop.filter((one) => one.events === count).map(({ point }) => point);
  return [
    ...outside.filter(({ point }) => point !== "after-task").map(({ point }) => point),
    ...[...events, undefined].flatMap((event, index) => [
      ...at(index),
      ...(event === undefined ? [] : [event]),
    ]),
    ...outside.filter(({ point }) => point === "after-task").map(({ point }) => point),
  ];
}

async function hookDigests(session: TestSession): Promise<string> {
  const { events } = await session.handle.fetchHistory();
  return JSON.stringify(events, (_, value) =>
    value?.type === "Buffer" ? Buffer.from(value.data).toString() : value,
  );
}

describe("with a hook at every point", () => {
  test("hooks and events follow the specified order [CB-01.1, CB-04.1, EVT-13.1, EVT-13.3, EVT-14.1-2, LOOP-02.1, LOOP-02.4, X-03, LOOP-21.2, CB-06.3, X-02.1]", async () => {
    const session = stage.session({
      replies: [{ toolCalls: [call("talk", { words: ["a", "b"] })] }, { text: "Done." }],
      agent: { tools: ["talk"], hooks: everywhere, permissions: { otherwise: "allow" } },
    });
    talking = session.id;
    await session.run("Hello");
    expect(await story(session)).toEqual([
      "before-task",
      "before-loop",
      "AgentStart",
      "before-turn",
      "TurnStart",
      ...["MessageStart", "MessageEnd", "MessageStart", "MessageEnd"],
      "before-tool",
      "ToolExecutionStart",
      ...["before-tool-update", "after-tool-update", "before-tool-update", "after-tool-update"],
      "ToolExecutionEnd",
      "after-tool",
      ...["MessageStart", "MessageEnd"],
      "TurnEnd",
      "after-turn",
      "before-turn",
      "TurnStart",
      ...["MessageStart", "MessageEnd"],
      "TurnEnd",
      "after-turn",
      "on-text",
      "AgentEnd",
      "after-loop",
      "after-task",
    ]);
  });

  thoroughTest(
    "each receives what the point knows, under an id of its own [CB-02.1-2, CB-02.4-5]",
    async () => {
      const session = stage.session({
        replies: [{ toolCalls: [call("talk", { words: ["a"] })] }, { text: "Done." }],
        agent: { tools: ["talk"], hooks: everywhere, permissions: { otherwise: "allow" } },
      });
      await session.run("Hello");
      const told = <P extends HookPoint>(point: P, nth = 0) =>
        calls(session).filter((one) => one.point === point)[nth]?.told as unknown as HookContexts[P];
      expect(told("before-loop")).toMatchObject({ turnIndex: 0, messages: [{ role: "user" }] });
      expect(told("before-turn", 1).messages.map(({ role }) => role)).toEqual([
        "user",
        "assistant",
        "toolResult",
      ]);
      expect(told("before-tool")).toMatchObject({
        toolName: "talk",
        turnIndex: 0,
        arguments: { words: ["a"] },
      });
      expect(told("after-tool")).toMatchObject({ toolName: "talk", isError: false });
      expect(told("before-tool-update")).toMatchObject({ text: "a" });
      expect(told("after-turn", 1)).toMatchObject({ turnIndex: 1, usage: { input: expect.any(Number) } });
      expect(told("after-turn", 1).messages.at(-1)).toMatchObject({ role: "assistant" });
      expect(told("on-text")).toMatchObject({ text: "Done." });
      expect(told("after-loop").messages.map(({ role }) => role)).toEqual([
        ...["user", "assistant", "toolResult", "assistant"],
      ]);
      const ids = calls(session).map((one) => one.told.id);
      expect(new Set(ids).size).toBe(ids.length);
    },
  );

  thoroughTest("a hook's changes to its arguments have no effect", async () => {
    const session = stage.session({
      replies: [{ text: "Done." }],
      agent: { hooks: { "before-turn": ["rewrites"] } },
    });
    await session.run("Hello");
    expect(session.listSeenMessages(0)).toEqual(["user: Hello"]);
  });

  thoroughTest("a compaction runs between its hooks [CB-04.2]", async () => {
    const text = "All work and no play makes a long day. ".repeat(60);
    const turn = { text, toolCalls: [call("list_files", { path: "." })], usage: { input: 0, output: 0 } };
    const session = stage.session({
      replies: [...Array.from({ length: 14 }, () => turn), { text: "Done." }],
      agent: {
        tools: ["list_files"],
        hooks: { "before-compaction": ["witness"], "after-compaction": ["witness"] },
        limits: { maxTurns: 16 },
        context: {
          maxContextTokens: 6000,
          systemPromptTokens: 100,
          compaction: { keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 200 },
        },
      },
    });
    await session.run("Go");
    const told = await story(session);
    const at = told.indexOf("CompactionStarted");
    expect(told.slice(at - 1, at + 3)).toEqual([
      ...["before-compaction", "CompactionStarted", "CompactionEnded", "after-compaction"],
    ]);
    const counts = calls(session).find(({ point }) => point === "after-compaction")?.told as never as Record<
      string,
      number
    >;
    expect(counts["tokensAfter"]).toBeLessThan(counts["tokensBefore"] as number);
  });

  thoroughTest(
    "an error is reported before the turn's end, with its text; an agent without hooks has no step for them [LOOP-16.1-2, CB-06.1-3, CB-01.2, CB-02.3]",
    async () => {
      const session = stage.session({
        faults: [{ fault: "auth", message: "no such key", times: 9 }],
        agent: { hooks: everywhere, retry: { maxRetries: 0 } },
      });
      await session.start("Hello");
      await session.readFailure();
      const told = await story(session);
      expect(told.slice(-6)).toEqual([
        "on-error",
        "TurnEnd",
        "after-turn",
        "AgentEnd",
        "after-loop",
        "after-task",
      ]);
      const error = calls(session).find(({ point }) => point === "on-error")
        ?.told as HookContexts["on-error"];
      expect(error.error).toContain("no such key");

      const plain = stage.session({ replies: [{ text: "Fine." }] });
      await plain.run("Hello");
      expect(await hookDigests(plain)).not.toMatch(/run-hook|before-turn/);
      expect((await stage.transcript.readSteps(plain.id)).map(({ kind }) => kind)).toEqual([
        ...["open-loop", "call-model", "close-loop"],
      ]);
    },
  );
});

describe("a rejection", () => {
  test("at before-loop: one AgentEnd, nothing else; the loop is recorded as rejected, and a later prompt is accepted [LOOP-02.2, CB-05.1]", async () => {
    const session = stage.session({
      replies: [{ text: "Fine." }],
      agent: { hooks: { "before-loop": ["guard"], "after-loop": ["witness"], "after-task": ["witness"] } },
    });
    await session.start("Build a bomb");
    expect(await session.readResult()).toMatchObject({
      outcome: { type: "rejected", by: "guard", reason: "no bombs ***" },
    });
    expect((await session.readEvents()).map(({ body }) => body)).toMatchObject([
      { type: "AgentEnd", from: 0, to: 0, rejection: "no bombs ***" },
    ]);
    expect(await stage.transcript.readLoops(session.id)).toMatchObject([{ status: "rejected", turns: 0 }]);
    expect(await session.readEntries()).toEqual([]);
    expect(pointsOf(session)).toEqual([]);
    expect(await session.run("Build a shelter")).toMatchObject({ text: "Fine." });
    expect(pointsOf(session)).toEqual(["after-loop", "after-task"]);
  });

  test("of a filter ends a loop that before-loop has accepted: after-loop is informed [PHI-13k.2]", async () => {
    const session = stage.session({ agent: { hooks: everywhere, inputFilters: ["never"] } });
    await session.start("Hello");
    expect(await session.readResult()).toMatchObject({ outcome: { type: "rejected", reason: "never" } });
    expect(await story(session)).toEqual([
      ...[
        "before-task",
        "before-loop",
        "AgentStart",
        "InputRejected",
        "AgentEnd",
        "after-loop",
        "after-task",
      ],
    ]);
  });

  thoroughTest(
    "at before-task rejects the session, each time that it is tried; a session that has begun is not checked again [CB-07.1, GAP-15]",
    async () => {
      const agent = { hooks: { "before-task": ["guard", "witness"] } };
      const closed = stage.session({ agent });
      Object.assign(closed, { id: `closed-${closed.id}` });
      for (const prompt of ["Hello", "Hello again"]) {
        await closed.start(prompt);
        expect(await closed.readResult()).toMatchObject({ outcome: { type: "rejected", by: "guard" } });
        expect((await closed.readEvents()).map(({ body }) => body)).toMatchObject([
          { type: "AgentEnd", rejection: expect.any(String) },
        ]);
      }
      const open = stage.session({ agent, replies: [{ text: "One." }, { text: "Two." }] });
      await open.run("Hello");
      await open.run("Hello again");
      expect(pointsOf(open)).toEqual(["before-task"]);
    },
  );

  thoroughTest(
    "at before-turn: no turn, no request, and steering goes to the inbox [LOOP-13, CB-05.2, PHI-13b, X-02.2-3]",
    async () => {
      const session = stage.session({ agent: { hooks: { "before-turn": ["porter", "guard"] } } });
      await session.start("Hello");
      await gates.get("door").arrived;
      await session.handle.signal(steerSignal, { id: "s1", text: "hurry" });
      gates.get("door").open();
      expect(await session.readResult()).toMatchObject({
        outcome: { type: "ended", by: "guard", reason: "not today" },
      });
      expect(session.listRequests()).toEqual([]);
      expect(await stage.transcript.readInbox(session.id)).toMatchObject([{ id: "s1" }]);
      expect(await session.readEventTypes()).toEqual([
        "AgentStart",
        "MessageStart",
        "MessageEnd",
        "AgentEnd",
      ]);
      expect(await stage.transcript.readSession(session.id)).toMatchObject({ status: "aborted" });
      const { searchAttributes } = await session.handle.describe();
      expect(searchAttributes).toMatchObject({ HoldfastStatus: ["stopped"] });
    },
  );

  test("at before-tool: that call alone is denied, and never runs; its sibling does [CB-05.3, X-04, TOOL-13]", async () => {
    const session = stage.session({
      replies: [
        { toolCalls: [call("talk", { words: ["rm"] }), call("talk", { words: ["ls"] })] },
        { text: "Done." },
      ],
      agent: { tools: ["talk"], hooks: { "before-tool": ["guard"] }, permissions: { otherwise: "allow" } },
    });
    await session.run("Hello");
    expect((await session.readConversation()).slice(2, 4)).toEqual([
      'toolResult: Tool call skipped by before_tool_execution hook "guard": rm is closed',
      "toolResult: talked",
    ]);
    const types = await session.readEventTypes();
    expect(types.filter((type) => type === "ToolExecutionStart")).toHaveLength(1);
    expect(types.filter((type) => type === "ToolExecutionEnd")).toHaveLength(2);
    const ran = (await stage.transcript.readSteps(session.id)).filter(({ kind }) => kind === "talk");
    expect(ran).toHaveLength(1);
  });

  test("at before-tool-update drops that chunk alone, and after-update is not called for it [CB-03.2, CB-05.4]", async () => {
    const session = stage.session({
      replies: [{ toolCalls: [call("talk", { words: ["one", "a secret", "two"] })] }, { text: "Done." }],
      agent: {
        tools: ["talk"],
        hooks: { "before-tool-update": ["guard"], "after-tool-update": ["witness"] },
        permissions: { otherwise: "allow" },
      },
    });
    await session.run("Hello");
    expect(calls(session).map(({ told }) => (told as never as { text: string }).text)).toEqual([
      "one",
      "two",
    ]);
  });
});

describe("results of hooks", () => {
  test("before-turn injects text, free of secrets, and on-text continues the loop [IRON-03.2, IRON-04.2, IRON-07.2]", async () => {
    const session = stage.session({
      replies: [{ text: "Early." }, { text: "Done." }],
      agent: { hooks: { "before-turn": ["coach"], "on-text": ["coach"] } },
    });
    expect(await session.run("Hello")).toMatchObject({ text: "Done.", outcome: { type: "answered" } });
    expect(await session.readConversation()).toEqual([
      "user: Hello",
      "assistant: Early.",
      "user: and the tests?",
      "user: mind the tests ***",
      "assistant: Done.",
    ]);
  });

  thoroughTest(
    "before-turn forces a text: the vendor is told to make no call, and the record says so [IRON-05]",
    async () => {
      const session = stage.session({
        replies: [{ toolCalls: [call("talk", { words: [] })] }, { text: "Done." }],
        agent: { tools: ["talk"], hooks: { "before-turn": ["closer"] }, permissions: { otherwise: "allow" } },
      });
      expect(await session.run("Hello")).toMatchObject({ text: "Done.", outcome: { type: "answered" } });
      const choices = session.listRequests().map(({ body }) => [body?.["tool_choice"], body?.["tools"]]);
      expect(choices).toEqual([
        [undefined, expect.anything()],
        [{ type: "none" }, choices[0]?.[1]],
      ]);
      expect(session.listSeenMessages(1).at(-1)).toBe("user: Finish now.");
      const turns = (await session.readEvents()).flatMap(({ body }) =>
        body.type === "TurnStart" ? [body] : [],
      );
      expect(turns.map(({ textOnly }) => textOnly)).toEqual([undefined, true]);
    },
  );

  thoroughTest("before-turn ends the loop with an outcome [IRON-04]", async () => {
    const session = stage.session({ agent: { hooks: { "before-turn": ["budget"] } } });
    expect(await session.run("Hello")).toMatchObject({
      outcome: { type: "ended", by: "budget", reason: "the money is spent" },
    });
  });

  thoroughTest(
    "at the wrong point are a failure: the call is denied, and the failure is in the step's result",
    async () => {
      const session = stage.session({
        replies: [{ toolCalls: [call("talk", { words: [] })] }, { text: "Done." }],
        agent: {
          tools: ["talk"],
          hooks: { "before-tool": ["nonsense"] },
          permissions: { otherwise: "allow" },
        },
      });
      await session.run("Hello");
      expect((await session.readConversation())[2]).toContain(
        '"inject", which is not allowed at before-tool',
      );
      const digest = await stage.client.workflow.getHandle(session.id).fetchHistory();
      const results = (digest.events ?? []).flatMap(
        ({ activityTaskCompletedEventAttributes: done }) =>
          done?.result?.payloads?.map(({ data }) => Buffer.from(data as Uint8Array).toString()) ?? [],
      );
      expect(results.some((text) => text.includes('"fault":"wrong-answer"'))).toBe(true);
    },
  );
});

describe("hooks that fail", () => {
  test("stop the loop before a turn, with a reason, and are ignored after it", async () => {
    const closed = stage.session({ agent: { hooks: { "before-turn": ["throws"] } } });
    expect(await closed.run("Hello")).toMatchObject({
      outcome: { type: "ended", by: "throws", reason: 'Hook "throws" failed: out of order' },
    });
    const open = stage.session({
      replies: [{ text: "Fine." }],
      agent: {
        hooks: {
          "before-turn": [{ name: "hangs", timeoutMs: 50, onFailure: "continue" }],
          "after-turn": ["throws", { name: "hangs", timeoutMs: 50 }],
        },
      },
    });
    expect(await open.run("Hello")).toMatchObject({ text: "Fine.", outcome: { type: "answered" } });
  });

  thoroughTest("after a turn end the loop if so configured", async () => {
    const session = stage.session({
      replies: [{ toolCalls: [call("list_files", { path: "." })] }, { text: "Never." }],
      agent: { tools: ["list_files"], hooks: { "after-turn": [{ name: "throws", onFailure: "stop" }] } },
    });
    expect(await session.run("Hello")).toMatchObject({
      outcome: { type: "ended", by: "throws", reason: 'Hook "throws" failed: out of order ***' },
    });
    expect(session.listRequests()).toHaveLength(1);
  });

  thoroughTest(
    "that hang are aborted at once by a stop, and the waiting messages stay [PHI-10.1, PHI-13b]",
    async () => {
      const session = stage.session({
        agent: { hooks: { "before-turn": [{ name: "hangs", timeoutMs: 60_000 }] } },
      });
      await session.start("Hello");
      await eventually(async () => (await session.readStatus()).statusText === "asking hooks (before-turn)");
      await session.handle.signal(steerSignal, { id: "s1", text: "hurry" });
      const stopped = performance.now();
      await session.handle.signal(stopSignal, "enough");
      expect(await session.readResult()).toMatchObject({ outcome: { type: "stopped", reason: "enough" } });
      expect(performance.now() - stopped).toBeLessThan(5000);
      expect(await stage.transcript.readInbox(session.id)).toMatchObject([{ id: "s1" }]);
      expect(await session.readEventTypes()).toEqual([
        "AgentStart",
        "MessageStart",
        "MessageEnd",
        "AgentEnd",
      ]);
    },
  );
});

describe("a definition's hooks", () => {
  const failureOf = async (agentHooks: object) => {
    const session = stage.session({ agent: { hooks: agentHooks } });
    await session.start("Hello");
    return (await session.readFailure()).message;
  };

  thoroughTest("are checked when a loop opens, with a helpful error [CB-09.3]", async () => {
    expect(await failureOf({ "before-trun": ["guard"] })).toContain(
      'hooks.before-trun: unknown key; did you mean "before-turn"?',
    );
    expect(await failureOf({ "before-turn": ["gaurd"] })).toContain(
      'this worker has no hook "gaurd"; it has',
    );
    expect(await failureOf({ "after-loop": ["guard"] })).toContain('hook "guard" does not listen there');
    expect(await failureOf({ "before-turn": ["./check.sh"] })).toContain('write {"command": "./check.sh"}');
    expect(await failureOf({ "before-tool-update": [{ command: "./check.sh" }] })).toContain(
      "this point is called for streamed output",
    );
    expect(await failureOf({ "before-turn": [{ command: "a | b" }] })).toContain("needs a shell");
  });
});

describe("a command as a hook", () => {
  test("is called in the workspace, with its reason for the model; it is not run at points that do not name it [CB-08.1-2]", async () => {
    const workspace = join(stage.home, "scripts");
    mkdirSync(workspace);
    writeFileSync(
      join(workspace, "guard.sh"),
      'echo "$HOLDFAST_HOOK $HOLDFAST_TOOL" >> asked\ncat >> told\ngrep -q forbidden told || exit 0\necho "not that one" >&2; exit 3\n',
    );
    const session = stage.session({
      replies: [
        { toolCalls: [call("talk", { words: ["fine"] })] },
        { toolCalls: [call("talk", { words: ["forbidden"] })] },
        { text: "Done." },
      ],
      agent: {
        workspace,
        tools: ["talk"],
        permissions: { otherwise: "allow" },
        hooks: { "before-tool": [{ command: "./guard.sh" }] },
      },
    });
    await session.run("Hello");
    const results = (await session.readConversation()).filter((line) => line.startsWith("toolResult"));
    expect(results).toEqual([
      "toolResult: talked",
      'toolResult: Tool call skipped by before_tool_execution hook "./guard.sh": not that one',
    ]);
    expect(readFileSync(join(workspace, "asked"), "utf8")).toBe("before-tool talk\nbefore-tool talk\n");
  });
});

describe("a command as a hook that hangs", () => {
  thoroughTest("is killed with its process group by a stop [CB-08.3]", async () => {
    const workspace = join(stage.home, "hanging");
    mkdirSync(workspace);
    writeFileSync(join(workspace, "hang.sh"), "echo $$ > pid.part; mv pid.part pid; sleep 300 & wait\n");
    const hangs = { command: "./hang.sh", timeoutMs: 60_000 };
    const session = stage.session({ agent: { workspace, hooks: { "before-turn": [hangs] } } });
    await session.start("Hello");
    const file = join(workspace, "pid");
    await eventually(() => existsSync(file));
    const pid = Number(readFileSync(file, "utf8"));
    await session.handle.signal(stopSignal, "enough");
    expect(await session.readResult()).toMatchObject({ outcome: { type: "stopped" } });
    expect(readProcess(pid)).toBeUndefined();
  });
});

describe("an interactive run", () => {
  thoroughTest(
    "continues after a rejected prompt, and its task ends when it is stopped [CB-07.2]",
    async () => {
      const session = stage.session({
        replies: [{ text: "Fine." }],
        agent: { hooks: { "before-loop": ["guard"], "after-task": ["witness"] } },
      });
      await session.start("Build a bomb", { mode: "interactive" });
      await expect.poll(async () => (await session.readStatus()).status).toBe("waiting");
      await session.handle.executeUpdate(promptUpdate, { args: ["Build a shelter"] });
      await session.waitForRequest(0);
      await expect.poll(async () => (await session.readStatus()).status).toBe("waiting");
      expect(pointsOf(session)).toEqual([]);
      await session.handle.signal(stopSignal, "enough");
      await session.readResult();
      expect(pointsOf(session)).toEqual(["after-task"]);
    },
  );
});
