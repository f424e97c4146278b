import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EvaluationStrategyRequest } from "../../src/hooks/evaluation-strategy.ts";
import { steerSignal, stopSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { listTexts } from "./support/list-texts.ts";
import { connectClient } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { TestEvaluation } from "./support/test-evaluation.ts";

let stage: TestEnvironment;
let asked: EvaluationStrategyRequest | undefined;

beforeAll(async () => {
  stage = await openTestEnvironment({
    registered: {
      evaluationStrategies: {
        last: (request) => {
          asked = request;
          return { selected: request.responses.length - 1 };
        },
        throws: () => {
          throw new Error("no idea");
        },
      },
    },
  });
});
afterAll(() => stage.close());

const usage = (output: number) => ({ usage: { input: 10, output } });

async function failureOf(contest: TestEvaluation) {
  return await contest.result().then(
    () => {
      throw new Error("the evaluation did not fail");
    },
    ({ cause }) => cause as { type: string; message: string; details: unknown[] },
  );
}

describe("an evaluation", () => {
  thoroughTest(
    "runs every configuration from the session's position, and the session continues on the selected branch [PAR-01.1, PAR-01.3-4, PAR-03.2, PAR-13.1, PAR-13.3, SES-12.2]",
    async () => {
      const contest = new TestEvaluation(stage, [
        { replies: [{ text: "short" }] },
        { replies: [{ text: "long and good" }] },
      ]);
      const result = await contest.run("Compare", { strategy: { type: "elaborate" } });
      expect(result).toMatchObject({
        session: contest.id,
        outcome: { type: "answered" },
        text: "long and good",
        decision: { selected: 1, decidedBy: "strategy" },
        selected: { index: 1, agentName: "agent-2", originalContextLength: 0, length: 2, turns: 1 },
        otherBranches: [{ index: 0, status: { type: "answered" }, textBytes: 5 }],
      });
      expect(result.usage.totalTokens).toBe(
        result.selected.usage.totalTokens + (result.otherBranches[0]?.usage.totalTokens ?? 0),
      );
      const session = await stage.transcript.readSession(contest.id);
      expect(session).toMatchObject({ headBranch: result.branch, agentName: "agent-2", status: "completed" });
      expect(await contest.readTexts(result.branch)).toEqual(["user: Compare", "assistant: long and good"]);
      expect(await contest.readTexts(result.otherBranches[0]?.branch)).toEqual([
        "user: Compare",
        "assistant: short",
      ]);
      const loops = await stage.transcript.readLoops(contest.id);
      expect(loops.map(({ loopId }) => loopId).sort()).toEqual(
        [1, 2].map((number) => `${contest.id}.anthropic.test-model.${number}`),
      );
      expect(loops.filter(({ parallel }) => parallel?.isSelected)).toHaveLength(1);
      expect(loops.map(({ parallel }) => parallel?.selectedLoopId)).toEqual([result.loopId, result.loopId]);
    },
  );

  test("the next prompt continues on the selected branch, with its agent [PAR-13.3]", async () => {
    const contest = new TestEvaluation(stage, [
      { replies: [{ text: "first", ...usage(90) }] },
      { replies: [{ text: "second", ...usage(10) }, { text: "and on" }] },
    ]);
    await contest.run("Compare", { strategy: { type: "token-efficient" } });
    const client = await connectClient(stage);
    await client.session(contest.id).prompt("Go on");
    expect(await client.session(contest.id).result()).toMatchObject({ text: "and on" });
    expect(contest.agents[1]?.listSeenMessages(1)).toEqual([
      "user: Compare",
      "assistant: second",
      "user: Go on",
    ]);
    const loops = await stage.transcript.readLoops(contest.id);
    const chosen = loops.find(({ parallel }) => parallel?.isSelected);
    expect(loops.at(-1)).toMatchObject({ parentLoopId: chosen?.loopId, branch: chosen?.branch });
    const marks: string[] = [];
    for await (const {
      event: { type },
    } of client.session(contest.id).events({ from: "session" })) {
      if (type === "AgentStart" || type.startsWith("Parallel")) marks.push(type);
    }
    expect(marks).toEqual(["ParallelLoopStart", "AgentStart", "AgentStart", "ParallelLoopEnd", "AgentStart"]);
    await client.close();
  });

  thoroughTest("its branches run at the same time [PAR-01.2]", async () => {
    const contest = new TestEvaluation(stage, [
      { replies: [{ text: "one", holdUntil: "branch one" }] },
      { replies: [{ text: "two", holdUntil: "branch two" }] },
    ]);
    await contest.start("Go", { strategy: { type: "pick-first" } });
    await Promise.all(["branch one", "branch two"].map((hold) => stage.model.waitForHold(hold)));
    stage.model.release("branch two");
    stage.model.release("branch one");
    expect(await contest.result()).toMatchObject({ text: "one", otherBranches: [{ textBytes: 3 }] });
  });

  thoroughTest(
    "branches know the earlier conversation, and end where they like; the other ones stay readable [PAR-01.1]",
    async () => {
      const before = stage.session({ replies: [{ text: "I am ready." }] });
      await before.run("Hello");
      const contest = new TestEvaluation(stage, [
        { replies: [{ text: "?" }, { text: "one" }] },
        {
          replies: [{ text: "?" }, { toolCalls: [{ name: "list_files", arguments: {} }] }, { text: "two" }],
          agent: { tools: ["list_files"] },
        },
      ]);
      (contest as { id: string }).id = before.id;
      const result = await contest.run("Now", { strategy: { type: "pick-first" } });
      expect(result.selected).toMatchObject({ index: 0, originalContextLength: 2, length: 4 });
      expect(contest.agents[1]?.listSeenMessages(0)).toEqual([
        "user: Hello",
        "assistant: I am ready.",
        "user: Now",
      ]);
      expect((await contest.readTexts(result.otherBranches[0]?.branch)).slice(2)).toEqual([
        "user: Now",
        "assistant: ",
        expect.stringMatching(/^toolResult: /),
        "assistant: two",
      ]);
      const client = await connectClient(stage);
      const loser = result.otherBranches[0]?.loopId ?? "";
      const request = await client.session(before.id).messages.request({ loop: loser, turn: 1 });
      expect(request.messages.map(({ message }) => message.role)).toEqual([
        "user",
        "assistant",
        "user",
        "assistant",
        "toolResult",
      ]);
      await client.close();
    },
  );

  thoroughTest(
    "without a prompt every branch continues from the existing conversation [PAR-02.1, PAR-04.3]",
    async () => {
      const before = stage.session({ replies: [{ text: "too slow", holdUntil: "never-mind" }] });
      const run = await before.start("What is it?");
      await stage.model.waitForHold("never-mind");
      await run.signal("stop", "enough");
      await run.result();
      stage.model.release("never-mind");
      const contest = new TestEvaluation(stage, [
        { replies: [{ text: "a" }, { text: "a" }] },
        { replies: [{ text: "b" }, { text: "b" }] },
      ]);
      (contest as { id: string }).id = before.id;
      const result = await contest.run(undefined, { strategy: { type: "custom", name: "last" } });
      expect(result).toMatchObject({ text: "b", decision: { selected: 1 } });
      expect(asked?.query).toBe("What is it?");
      expect(contest.agents[0]?.listSeenMessages(0)[0]).toBe("user: What is it?");
      const kinds = (await stage.transcript.readLoops(before.id)).slice(1).map(({ kind }) => kind.type);
      expect(kinds).toEqual(["default", "default"]);
    },
  );

  thoroughTest(
    "without a prompt a conversation that ends with an answer is rejected, and so is a missing one [PAR-02.2]",
    async () => {
      const before = stage.session({ replies: [{ text: "Done." }] });
      await before.run("Hello");
      const contest = new TestEvaluation(stage, [{ replies: [] }]);
      await contest.start();
      expect((await failureOf(contest)).message).toMatch(/There is no session/);
      (contest as { id: string }).id = before.id;
      await contest.start();
      expect((await failureOf(contest)).message).toMatch(/ends with an answer/);
      expect(await stage.transcript.readEvaluations(before.id)).toEqual([]);
    },
  );

  test("an invalid plan is rejected before a model is paid [PAR-05.1]", async () => {
    const contest = new TestEvaluation(stage, [{ replies: [] }, { replies: [] }]);
    await contest.start("Go", { strategy: { type: "transparent" } });
    expect(await failureOf(contest)).toMatchObject({
      type: "holdfast/run-failed",
      message: expect.stringMatching(/passes one branch through/),
    });
    await contest.start("Go", { strategy: { type: "custom", name: "lsat" } });
    expect((await failureOf(contest)).message).toMatch(/no evaluation strategy "lsat".*did you mean "last"/);
    await contest.start("Go", { strategy: { type: "custom", name: "juge" } });
    expect((await failureOf(contest)).message).toMatch(/it has transparent, .*did you mean "judge"/);
    await contest.start("Go", { strategy: { type: "custom", name: "judge" } });
    expect((await failureOf(contest)).message).toMatch(/a built-in strategy: use { type: "judge" }/);
    await contest.start("Go", { strategy: { type: "best" } as never });
    expect((await failureOf(contest)).message).toMatch(/The evaluation is not valid: strategy/);
    expect(contest.agents[0]?.listRequests()).toEqual([]);
  });

  thoroughTest("one configuration passes through [PAR-05.1]", async () => {
    const contest = new TestEvaluation(stage, [{ replies: [{ text: "only" }] }]);
    const result = await contest.run("Go", { strategy: { type: "transparent" } });
    expect(result).toMatchObject({ text: "only", otherBranches: [], decision: { selected: 0 } });
  });

  test("a strategy that throws leaves the selection to the fallback, which records that [PAR-04.2-3, GAP-10.1]", async () => {
    const contest = new TestEvaluation(stage, [
      { replies: [{ text: "one" }] },
      { replies: [{ text: "two" }] },
    ]);
    const result = await contest.run("Go", { strategy: { type: "custom", name: "throws" } });
    expect(result.decision).toEqual({
      selected: 0,
      decidedBy: "fallback",
      reason: 'Strategy "throws" failed: no idea. Branch 1 is taken, the first that answered.',
    });
  });
});

describe("a judge", () => {
  thoroughTest(
    "reads the query and the last answers, on an empty branch of the session, and its number counts [PAR-06.1-2, PAR-07.2-3, PAR-08.1-2]",
    async () => {
      const contest = new TestEvaluation(
        stage,
        [
          {
            replies: [{ toolCalls: [{ name: "list_files", arguments: {} }] }, { text: "alpha" }],
            agent: { tools: ["list_files"] },
          },
          { replies: [{ text: "beta" }] },
        ],
        { replies: [{ text: "I take 2." }] },
      );
      const result = await contest.run("Which letter?");
      expect(result).toMatchObject({ text: "beta", decision: { selected: 1, decidedBy: "strategy" } });
      expect(contest.judge?.listSeenMessages(0)).toEqual([
        "user: Original query:\nWhich letter?\n\nResponse 1:\nalpha\n\nResponse 2:\nbeta\n\n" +
          'Which response is best? Reply with ONLY the response number (e.g., "1" or "2").',
      ]);
      expect(JSON.stringify(contest.judge?.listRequests()[0]?.body?.["system"])).toContain(
        "You compare responses",
      );
      expect(result.evaluationUsage.totalTokens).toBeGreaterThan(0);
      expect(result.usage.totalTokens).toBe(
        [result.selected, ...result.otherBranches].reduce((sum, { usage: one }) => sum + one.totalTokens, 0) +
          result.evaluationUsage.totalTokens,
      );
      const loops = await stage.transcript.readLoops(contest.id);
      expect(loops).toHaveLength(3);
      expect(loops.at(-1)).toMatchObject({ from: 0, evaluation: expect.any(String) });
      expect(loops.at(-1)?.parallel).toBeUndefined();
      expect(loops.at(-1)?.loopId).toMatch(/\.3$/);
      expect((await stage.transcript.readSession(contest.id))?.headBranch).toBe(result.branch);
    },
  );

  thoroughTest("without a usable number the first branch that answered is selected [GAP-10.1]", async () => {
    const contest = new TestEvaluation(
      stage,
      [{ replies: [{ text: "one" }] }, { replies: [{ text: "two" }] }],
      {
        replies: [{ text: "They are all fine." }],
      },
    );
    expect(await contest.run("Go")).toMatchObject({
      text: "one",
      decision: { selected: 0, decidedBy: "fallback", reason: expect.stringMatching(/They are all fine/) },
    });
  });

  thoroughTest(
    "is warned, as is the reader of events, that its input was too large [PAR-10.1, PAR-11.5, PAR-12.1-3]",
    async () => {
      const long = "word ".repeat(4000);
      const contest = new TestEvaluation(
        stage,
        [{ replies: [{ text: `A ${long}` }] }, { replies: [{ text: `B ${long}` }] }],
        {
          replies: [{ text: "2" }],
          agent: { context: { maxContextTokens: 100, systemPromptTokens: 0 } },
        },
      );
      const result = await contest.run("Go");
      expect(result.decision.selected).toBe(1);
      expect(result.selected.textBytes).toBeGreaterThan(20_000);
      const shown = contest.judge?.listSeenMessages(0)[0] ?? "";
      expect(shown.length).toBeLessThan(1000);
      const [record] = await stage.transcript.readEvaluations(contest.id);
      expect(record?.warning).toMatch(/too large for the judge/);
      const client = await connectClient(stage);
      const told: string[] = [];
      for await (const { event } of client.session(contest.id).events({ from: "session" })) {
        if (event.type === "ProgressMessage") told.push(event.loopId, event.text);
      }
      expect(told).toEqual([record?.judgeLoopId, record?.warning]);
      await client.close();
    },
  );

  test("is not called when only one branch has answered [PAR-06.3]", async () => {
    const contest = new TestEvaluation(
      stage,
      [{ replies: [{ text: "one" }] }, { replies: [], agent: { tools: ["nothing"], strict: true } }],
      { replies: [{ text: "1" }] },
    );
    expect(await contest.run("Go")).toMatchObject({ text: "one", decision: { selected: 0 } });
    expect(contest.judge?.listRequests()).toEqual([]);
  });
});

describe("a branch that does not answer", () => {
  thoroughTest("is an outcome beside the others", async () => {
    const contest = new TestEvaluation(stage, [
      { replies: [], agent: { tools: ["nothing"], strict: true } },
      {
        replies: [{ toolCalls: [{ name: "list_files", arguments: {} }] }, { text: "never" }],
        agent: { tools: ["list_files"], limits: { maxTurns: 1 } },
      },
      { replies: [{ text: "gone", holdUntil: "gone" }] },
      { replies: [{ text: "fine" }] },
    ]);
    await contest.start("Go");
    await stage.model.waitForHold("gone");
    const status = await eventually(async () => {
      const now = (await contest.handle.query("status")) as {
        branches: { workflow?: string; status: string }[];
      };
      return now.branches.filter(({ status: word }) => word === "running").length === 1 ? now : undefined;
    });
    await stage.client.workflow.getHandle(status.branches[2]?.workflow ?? "").terminate("by hand");
    const result = await contest.result();
    expect(result).toMatchObject({ text: "fine", decision: { selected: 3 } });
    expect(result.otherBranches.map(({ status: { type } }) => type)).toEqual([
      "failed",
      "over-budget",
      "stopped",
    ]);
    expect(result.otherBranches[0]).toMatchObject({ status: { reason: expect.stringMatching(/nothing/) } });
    expect((await stage.transcript.readLoops(contest.id)).map(({ status: word }) => word).sort()).toEqual([
      "aborted",
      "completed",
      "completed",
    ]);
  });

  thoroughTest(
    "when none answers, the fallback names the selected branch, and the evaluation fails as a run does",
    async () => {
      const strict = { tools: ["nothing"], strict: true };
      const contest = new TestEvaluation(stage, [
        { replies: [], agent: strict },
        { replies: [], agent: strict },
      ]);
      await contest.start("Go", { strategy: { type: "elaborate" } });
      const { type, details } = await failureOf(contest);
      expect(type).toBe("holdfast/run-failed");
      expect(details[0]).toMatchObject({
        decision: {
          selected: 0,
          decidedBy: "fallback",
          reason: expect.stringMatching(/^No branch answered\. Branch 1/),
        },
        otherBranches: [{ index: 1 }],
      });
      expect(await stage.transcript.readSession(contest.id)).toMatchObject({
        status: "failed",
        headBranch: "main",
      });
    },
  );

  test("limits of the evaluation hold for all of it: a branch that gets no share does not begin", async () => {
    const contest = new TestEvaluation(
      stage,
      [{ replies: [{ text: "one" }] }, { replies: [{ text: "two" }] }, { replies: [{ text: "3" }] }],
      {
        replies: [{ text: "2" }],
      },
    );
    const result = await contest.run("Go", { limits: { maxTurns: 3 } });
    expect(result.otherBranches.map(({ status }) => status.type)).toEqual(["answered", "over-budget"]);
    expect(result.decision).toMatchObject({ selected: 1, decidedBy: "strategy" });
    expect(contest.agents[2]?.listRequests()).toEqual([]);
  });

  thoroughTest("a stop ends the branches, and selects the first that had answered [ABT-01.1]", async () => {
    const contest = new TestEvaluation(
      stage,
      [{ replies: [{ text: "never", holdUntil: "stopped" }] }, { replies: [{ text: "two" }] }],
      {
        replies: [{ text: "1" }],
      },
    );
    await contest.start("Go");
    await stage.model.waitForHold("stopped");
    await eventually(async () =>
      (await stage.transcript.readLoops(contest.id)).some(({ outcome }) => outcome),
    );
    await contest.handle.signal(stopSignal, "enough");
    const result = await contest.result();
    expect(result).toMatchObject({
      outcome: { type: "stopped", reason: "enough" },
      text: "two",
      decision: { selected: 1, decidedBy: "fallback" },
      otherBranches: [{ status: { type: "stopped" } }],
    });
    expect(contest.judge?.listRequests()).toEqual([]);
    for (const { loopId } of await stage.transcript.readLoops(contest.id)) {
      const events = await stage.transcript.readEvents(loopId, 0);
      expect(events.at(-1)?.body.type).toBe("AgentEnd");
    }
  });

  test("a session under evaluation has no other run, and messages to it wait in its inbox", async () => {
    const contest = new TestEvaluation(stage, [
      { replies: [{ text: "one", holdUntil: "busy" }, { text: "two" }] },
    ]);
    await contest.start("Go", { strategy: { type: "transparent" } });
    await stage.model.waitForHold("busy");
    const client = await connectClient(stage);
    await expect(client.session(contest.id).prompt("me too")).rejects.toMatchObject({ code: "session-busy" });
    await contest.handle.signal(steerSignal, { id: "w1", text: "for later" });
    expect(await client.session(contest.id).followUp("and this", { acknowledge: true })).toMatchObject({
      queued: 2,
    });
    const { branches } = await contest.handle.query<{ branches: { workflow: string }[] }>("status");
    const workflow = branches[0]?.workflow ?? "";
    await client.session(workflow).steer("Also this");
    stage.model.release("busy");
    const result = await contest.result();
    expect(await contest.readTexts(result.branch)).toContain("user: Also this");
    await expect(client.session(workflow).steer("too late")).rejects.toMatchObject({
      code: "session-unknown",
    });
    expect((await stage.transcript.readInbox(contest.id)).map(({ text }) => text)).toEqual([
      "for later",
      "and this",
    ]);
    expect(
      (await client.sessions.list()).sessions.filter(({ session }) => session.startsWith(contest.id)),
    ).toHaveLength(1);
    await client.close();
  });
});

thoroughTest(
  "readers of events see brackets around the loops of all branches, in their order [EVT-08.1-2, EVT-12.2, PAR-13.2]",
  async () => {
    const contest = new TestEvaluation(
      stage,
      [{ replies: [{ text: "one" }] }, { replies: [{ text: "two" }] }],
      {
        replies: [{ text: "1" }],
      },
    );
    const client = await connectClient(stage);
    const started = await client.evaluate({
      agents: contest.agents.map(({ definition }) => definition),
      strategy: { type: "judge", judge: contest.judge?.definition as never },
      prompt: "Go",
      session: contest.id,
    });
    const seen: { type: string; loopId?: string }[] = [];
    for await (const { event } of started.events()) seen.push(event as never);
    const result = await started.result();
    expect(result).toMatchObject({ text: "one", selected: { index: 0 }, session: contest.id });
    expect(seen[0]).toMatchObject({
      type: "ParallelLoopStart",
      sessionId: contest.id,
      loopIds: [result.loopId, result.otherBranches[0]?.loopId],
    });
    expect(seen.at(-1)).toMatchObject({
      type: "ParallelLoopEnd",
      selectedLoopId: result.loopId,
      selectedConfigIndex: 0,
      evaluationUsage: result.evaluationUsage,
    });
    const starts = seen.filter(({ type }) => type === "AgentStart").map(({ loopId }) => loopId);
    expect(new Set(starts).size).toBe(3);
    expect(seen.filter(({ type }) => type === "AgentEnd")).toHaveLength(3);
    // The judge's loop was the last to end; the session continues after another.
    expect(await client.session(contest.id).status()).toMatchObject({
      status: "completed",
      loopId: result.loopId,
    });
    await client.close();
  },
);

thoroughTest(
  "the history of an evaluation holds references, and grows by the same few kilobytes for each of 50 branches",
  async () => {
    const words = "A very particular sentence. ".repeat(300);
    const bytes: number[] = [];
    for (const count of [2, 50]) {
      const contest = new TestEvaluation(
        stage,
        Array.from({ length: count }, () => ({ replies: [{ text: words }] })),
        { replies: [{ text: "1" }] },
      );
      // Definitions by their hashes, as a client sends many.
      const agents = await Promise.all(
        contest.agents.map(async ({ definition }) => ({
          definitionHash: await stage.transcript.saveDefinition(definition as never),
        })),
      );
      const result = await contest.run(words, { agents });
      expect(result.otherBranches.filter(({ status }) => status.type === "answered")).toHaveLength(count - 1);
      const { events } = await contest.handle.fetchHistory();
      // How many workflow tasks there are depends on how fast the worker is; they have no data of an evaluation.
      const withoutTasks = (events ?? []).filter(
        (event) =>
          !(
            event.workflowTaskScheduledEventAttributes ??
            event.workflowTaskStartedEventAttributes ??
            event.workflowTaskCompletedEventAttributes
          ),
      );
      bytes.push(withoutTasks.reduce((sum, event) => sum + Buffer.byteLength(listTexts(event).join(" ")), 0));
      const times = listTexts(events).join(" ").split("A very particular sentence").length - 1;
      // Requested twice, by the workflow and by the step that stores it, and answered twice, as every run's result is.
      expect(times).toBeGreaterThanOrEqual(1200);
      expect(times).toBeLessThan(1210);
    }
    const [few = 0, many = 0] = bytes;
    expect((many - few) / 48).toBeLessThan(4_000);
  },
);
