import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentDefinition } from "../../src/schema/definition.ts";
import type { TestAgentOptions } from "../../src/testing/test-agent.ts";
import {
  followUpSignal,
  steerSignal,
  stopSignal,
  updateDefinitionUpdate,
} from "../../src/workflows/messages.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createAgentTree, createTaskCall, findChildSession } from "./support/agent-tree.ts";
import { listTexts } from "./support/list-texts.ts";
import { watchLiveOutput } from "./support/live-output.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { listRequestMessages, type TestSession } from "./support/test-session.ts";

let stage: TestEnvironment;

/** What the filter "notes" received. */
const filtered: string[] = [];

beforeAll(async () => {
  const notes = (text: string) => {
    filtered.push(text);
    return { type: "pass" as const };
  };
  stage = await openTestEnvironment({ filters: { notes } });
});
afterAll(() => stage.close());

describe("a sub-agent", () => {
  thoroughTest(
    "that is active keeps its definition when its caller is updated to another one; the next has the new one [3.8]",
    async () => {
      const parent = createAgentTree(
        stage,
        [
          { toolCalls: [createTaskCall("scout", "One.")] },
          { toolCalls: [createTaskCall("scout", "Two.")] },
          { text: "Done." },
        ],
        {
          scout: [
            { toolCalls: [{ name: "list_files", arguments: { path: "." } }], holdUntil: "scout" },
            { text: "1" },
          ],
        },
      );
      await parent.start("Go");
      await stage.model.waitForHold("scout");
      const [scout] = parent.definition.subAgents ?? [];
      if (scout === undefined) throw new Error("there is no scout");
      const agent = { ...scout.agent, systemPrompt: "You are another." };
      const other = AgentDefinition.parse({ ...parent.definition, subAgents: [{ ...scout, agent }] });
      const definitionHash = await stage.transcript.saveDefinition(other);
      await parent.handle.executeUpdate(updateDefinitionUpdate, { args: [{ definitionHash }] });
      stage.model.release("scout");
      expect(await parent.readResult()).toMatchObject({ text: "Done." });
      const conversation = scout.agent.model.headers?.["x-conversation"];
      const asked = stage.model.requests.filter((request) => request.conversation === conversation);
      const isOther = asked.map(({ body }) => JSON.stringify(body?.["system"]).includes("You are another."));
      expect(isOther.slice(0, 2)).toEqual([false, false]);
      expect(isOther.at(-1)).toBe(true);
    },
  );

  test("does the task in a session of its own, and its answer is the call's result [SUB-01.1, SUB-05.1, SUB-05.3-4, SUB-11.1-3, SES-10.2-3, LOOP-07.4]", async () => {
    const parent = createAgentTree(
      stage,
      [{ toolCalls: [createTaskCall("researcher", "Find the answer.")] }, { text: "It is 42." }],
      {
        researcher: [{ text: "42" }],
      },
    );
    expect(await parent.run("Go")).toMatchObject({ text: "It is 42." });
    const child = await findChildSession(stage, parent);
    const [loop] = await stage.transcript.readLoops(child.id);
    const [calling] = await stage.transcript.readLoops(parent.id);
    expect(loop).toMatchObject({
      loopId: `${child.id}.sub.1`,
      parentLoopId: calling?.loopId,
      kind: { type: "initial" },
      status: "completed",
    });
    const result = (await parent.readEntries())[2]?.message;
    expect(result).toMatchObject({
      role: "toolResult",
      content: [{ type: "text", text: "42" }],
      isError: false,
      details: { sub_agent: "researcher", turns: 2 },
      childLoopId: loop?.loopId,
    });
    expect(child.spawn).toMatchObject({
      session: parent.id,
      loopId: calling?.loopId,
      toolName: "researcher",
    });
    const entries = await stage.transcript.readEntries(child.id, "main", 0, 99);
    expect(entries[0]?.message).toMatchObject({
      role: "user",
      content: [{ type: "text", text: "Find the answer." }],
    });
    const events = await stage.transcript.readEvents(loop?.loopId ?? "", 0);
    expect(events.find(({ body }) => body.type === "TurnStart")?.body).toMatchObject({ trigger: "subAgent" });
    const ended = (await parent.readEvents()).find(({ body }) => body.type === "ToolExecutionEnd")?.body;
    expect(ended).toMatchObject({ childLoopId: loop?.loopId, isError: false });
  });

  thoroughTest("its text never passes through history", async () => {
    const words = "A very particular sentence ".repeat(400);
    const parent = createAgentTree(
      stage,
      [{ toolCalls: [createTaskCall("writer", words)] }, { text: "Done." }],
      {
        writer: [{ text: words }],
      },
    );
    await parent.run("Go");
    const child = await findChildSession(stage, parent);
    for (const id of [parent.id, child.id]) {
      const history = await stage.client.workflow.getHandle(id).fetchHistory();
      const text = listTexts(history).join(" ");
      // A few words of it label the timeline.
      expect(text.split("A very particular sentence").length - 1).toBeLessThan(40);
    }
  });

  thoroughTest("several run in parallel, and their results are in call order [SUB-09.1-2]", async () => {
    const parent = createAgentTree(
      stage,
      [{ toolCalls: [createTaskCall("one", "1"), createTaskCall("two", "2")] }, { text: "Both." }],
      {
        one: [{ text: "first", holdUntil: "one" }],
        two: [{ text: "second", holdUntil: "two" }],
      },
    );
    await parent.start("Go");
    await stage.model.waitForHold("one");
    await stage.model.waitForHold("two");
    stage.model.release("two");
    stage.model.release("one");
    expect(await parent.readResult()).toMatchObject({ text: "Both." });
    expect((await parent.readConversation()).slice(2, 4)).toEqual([
      "toolResult: first",
      "toolResult: second",
    ]);
  });

  thoroughTest(
    "messages to its caller do not reach it, and its caller's filters do not check its task [STEER-11.1-2, LOOP-07.4]",
    async () => {
      const parent = createAgentTree(
        stage,
        [{ toolCalls: [createTaskCall("helper", "look")] }, { text: "Done." }],
        { helper: [{ text: "seen", holdUntil: "helper" }] },
        { inputFilters: ["notes"] },
      );
      await parent.start("Go");
      await stage.model.waitForHold("helper");
      await parent.handle.signal(steerSignal, "faster");
      await parent.handle.signal(followUpSignal, "and then stop");
      stage.model.release("helper");
      await parent.readResult();
      const child = await findChildSession(stage, parent);
      const entries = await stage.transcript.readEntries(child.id, "main", 0, 99);
      expect(entries.map(({ origin }) => origin)).toEqual(["prompt", "model"]);
      const [loop] = await stage.transcript.readLoops(child.id);
      const told = await stage.transcript.readEvents(loop?.loopId ?? "", 0);
      expect(told.find(({ body }) => body.type === "TurnStart")?.body).toMatchObject({ trigger: "subAgent" });
      expect(filtered.filter((text) => ["Go", "faster", "and then stop", "look"].includes(text))).toEqual([
        "Go",
        "faster",
        "and then stop",
      ]);
    },
  );

  thoroughTest("a stop reaches it, and both close their records [SUB-10, ABT-01.3]", async () => {
    const parent = createAgentTree(stage, [{ toolCalls: [createTaskCall("slow", "wait")] }], {
      slow: [{ text: "never", holdUntil: "slow" }],
    });
    await parent.start("Go");
    await stage.model.waitForHold("slow");
    await parent.handle.signal(stopSignal, "enough");
    expect(await parent.readResult()).toMatchObject({ outcome: { type: "stopped", reason: "enough" } });
    const child = await findChildSession(stage, parent);
    expect((await stage.transcript.readLoops(child.id))[0]).toMatchObject({ outcome: { type: "stopped" } });
    expect((await parent.readEvents()).filter(({ body }) => body.type === "AgentEnd")).toHaveLength(1);
  });

  thoroughTest("one that is terminated gives an error result, and what it has spent counts", async () => {
    const parent = createAgentTree(
      stage,
      [{ toolCalls: [createTaskCall("slow", "wait")] }, { text: "So be it." }],
      {
        slow: [
          { text: "first", toolCalls: [{ name: "list_files", arguments: {} }] },
          { text: "never", holdUntil: "gone" },
        ],
      },
    );
    await parent.start("Go");
    await stage.model.waitForHold("gone");
    const child = await findChildSession(stage, parent);
    await stage.client.workflow.getHandle(child.id).terminate("by hand");
    expect(await parent.readResult()).toMatchObject({ text: "So be it." });
    const result = (await parent.readEntries())[2]?.message;
    expect(result).toMatchObject({ role: "toolResult", isError: true });
    expect((await parent.readConversation())[2]).toContain("ended without a result");
  });

  thoroughTest.each([
    ["without a task", {}],
    ["with an empty task", { task: "" }],
  ])("%s it does not begin [SUB-02.1-2]", async (_, given) => {
    const parent = createAgentTree(
      stage,
      [{ toolCalls: [{ name: "helper", arguments: given }] }, { text: "Ah." }],
      {
        helper: [],
      },
    );
    await parent.run("Go");
    expect((await parent.readConversation())[2]).toContain("Missing required 'task' parameter");
    expect(await stage.transcript.findSessions({ limit: 9, spawnedBy: parent.id })).toEqual([]);
  });

  describe("whose definition lists sub-agents", () => {
    /** The agent "middle" has the sub-agent "lowest", which it calls. */
    function createChain(agent: TestAgentOptions): TestSession {
      const lowest = stage.session({ replies: [{ text: "From below." }] }).definition;
      return createAgentTree(
        stage,
        [{ toolCalls: [createTaskCall("middle", "go")] }, { text: "Done." }],
        { middle: [{ toolCalls: [createTaskCall("lowest", "dig")] }, { text: "ok" }] },
        agent,
        { tools: ["list_files"], subAgents: [{ name: "lowest", agent: lowest }] },
      );
    }

    async function listOffered(parent: TestSession): Promise<unknown> {
      const [middle] = parent.definition.subAgents ?? [];
      const conversation = middle?.agent.model.headers?.["x-conversation"];
      const [request] = stage.model.requests.filter((one) => one.conversation === conversation);
      const tools = request?.body?.["tools"] as { name: string }[] | undefined;
      return tools?.map(({ name }) => name);
    }

    thoroughTest(
      "is not offered them, and a call of one is answered with an error [SUB-08, X-30]",
      async () => {
        const parent = createChain({});
        await parent.run("Go");
        expect(await listOffered(parent)).toEqual(["list_files"]);
        const child = await findChildSession(stage, parent);
        const [, , result] = await stage.transcript.readEntries(child.id, "main", 0, 9);
        expect(result?.message).toMatchObject({
          role: "toolResult",
          isError: true,
          content: [{ type: "text", text: "Tool lowest not found" }],
        });
        expect(await stage.transcript.findSessions({ limit: 9, spawnedBy: child.id })).toEqual([]);
      },
    );

    thoroughTest("has them where the first caller's definition allows two levels", async () => {
      const parent = createChain({ delegation: { maxDepth: 2 } });
      await parent.run("Go");
      expect(await listOffered(parent)).toEqual(["list_files", "lowest"]);
      const child = await findChildSession(stage, parent);
      expect(await stage.transcript.findSessions({ limit: 9, spawnedBy: child.id })).toHaveLength(1);
    });
  });

  thoroughTest("ends at its caller's remaining limits [SUB-03.3]", async () => {
    const call = { toolCalls: [{ name: "list_files", arguments: {} }] };
    const parent = createAgentTree(
      stage,
      [{ toolCalls: [createTaskCall("busy", "go on")] }, { text: "Done." }],
      { busy: [call, call, call, call, call, call] },
      { limits: { maxTurns: 7 } },
    );
    await parent.run("Go");
    expect((await parent.readConversation())[2]).toContain(
      "[Sub-agent stopped: Budget of turns reached: none left of 3 (3 spent)]",
    );
  });

  thoroughTest(
    "its live output is output of its caller's call, wrapped; its own events are not in its caller's record [SUB-07.1-2, X-30]",
    async () => {
      const parent = createAgentTree(
        stage,
        [{ toolCalls: [createTaskCall("talker", "speak")] }, { text: "Done." }],
        {
          talker: [
            { text: "Let me look", toolCalls: [{ name: "list_files", arguments: {} }] },
            { text: "All is well" },
          ],
        },
      );
      const live = watchLiveOutput(stage, parent);
      await parent.run("Go");
      const shown = await live.all();
      const told = shown.flatMap(({ body }) =>
        body.type === "tool-output" && body.toolName === "talker" ? [body.text] : [],
      );
      expect(told.join("")).toBe("Let me look[sub-agent calling tool: list_files]\nAll is well");
      const kinds = (await parent.readEvents()).map(({ body }) => body.type);
      expect(kinds.filter((kind) => kind === "AgentStart" || kind === "TurnStart")).toHaveLength(3);
    },
  );

  thoroughTest("its cost is part of its caller's cost, and it is in its caller's status", async () => {
    const cost = { input: 1000, output: 2000 };
    const usage = { input: 1000, output: 1000 };
    const parent = createAgentTree(
      stage,
      [
        { toolCalls: [createTaskCall("scout", "look")], usage },
        { text: "Done.", usage, holdUntil: "looked" },
      ],
      { scout: [{ text: "Seen.", usage }] },
      { model: { cost }, limits: { maxCostUsd: 100 } },
      { model: { cost } },
    );
    await parent.start("Go");
    await stage.model.waitForHold("looked");
    const child = await findChildSession(stage, parent);
    expect(await parent.readStatus()).toMatchObject({
      costUsd: 6,
      turns: 1,
      budget: { usd: { limit: 100, used: 6, reserved: 0, remaining: 94 }, turns: { used: 2 } },
      children: {
        running: 0,
        ended: 1,
        rows: [{ session: child.id, agent: "scout", task: "look", status: "completed" }],
      },
    });
    stage.model.release("looked");
    await parent.readResult();
    const { searchAttributes } = await parent.handle.describe();
    expect(searchAttributes).toMatchObject({ HoldfastCostUsd: [9], HoldfastTurns: [2] });
  });

  test("runs with its own prompt, tools and model, and knows nothing of an earlier call [SUB-01.2-3]", async () => {
    const own = { systemPrompt: "You look.", tools: ["list_files"], model: { id: "small-model" } };
    const parent = createAgentTree(
      stage,
      [
        { toolCalls: [createTaskCall("scout", "First.")] },
        { toolCalls: [createTaskCall("scout", "Second.")] },
        { text: "Done." },
      ],
      { scout: [{ text: "1" }, { text: "2" }] },
      { tools: ["read_file"] },
      own,
    );
    await parent.run("Go");
    const conversation = parent.definition.subAgents?.[0]?.agent.model.headers?.["x-conversation"];
    const asked = stage.model.requests.filter((request) => request.conversation === conversation);
    expect(asked.map(listRequestMessages)).toEqual([["user: First."], ["user: Second."]]);
    for (const { body } of asked) {
      expect(body).toMatchObject({ model: "small-model", tools: [{ name: "list_files" }] });
      expect(body?.["tools"]).toHaveLength(1);
      expect(JSON.stringify(body?.["system"])).toContain("You look.");
      expect(JSON.stringify(body?.["system"])).not.toContain("You are a test.");
    }
  });
});
