import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "./support/gates.ts";
import { listActivities, resetTo } from "./support/reset.ts";
import { connectClient, runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

const gates = new Gates();
let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool()] });
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const hold = (gate: string) => ({ name: "hold", arguments: { gate } });
const said = async (session: TestSession, branch?: string) =>
  (await holdfast.session(session.id).messages.list(branch === undefined ? {} : { branch })).map(
    ({ message }) =>
      message.role === "extension"
        ? "extension"
        : message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
  );
const branchesOf = async (session: TestSession) =>
  (await holdfast.session(session.id).branches.list()).branches.map(({ id, origin, isHead }) => ({
    id,
    origin,
    isHead,
  }));
const asked = async (session: TestSession, type: string, nth = 0) => {
  const found = (await listActivities(session)).filter((one) => one.type === type)[nth];
  if (found === undefined) throw new Error(`No ${type} was asked for`);
  return found.askedBy;
};
async function reset(session: TestSession, type: string, nth = 0): Promise<void> {
  await resetTo(stage, session, await asked(session, type, nth));
  await session.readResult();
}

describe("a run that an operator resets is a fork of the record", () => {
  test("to before its loop was opened: the same loop, the same request, after the same prompt", async () => {
    const session = stage.session({ replies: [{ text: "An answer." }] });
    await session.run("Do it");
    await reset(session, "open-loop");
    expect(session.listRequests()).toHaveLength(2);
    expect(session.listSeenMessages(1)).toEqual(session.listSeenMessages(0));
    const loops = await stage.transcript.readLoops(session.id);
    expect(loops).toHaveLength(1);
    expect(loops[0]).toMatchObject({ status: "completed", outcome: { type: "answered" } });
    expect(await branchesOf(session)).toEqual([
      { id: "main", origin: "first", isHead: false },
      { id: expect.stringMatching(/^fork-/), origin: "reset", isHead: true },
    ]);
    expect(await said(session, "main")).toEqual(["Do it", "An answer."]);
    expect(await said(session)).toEqual(["Do it", "An answer."]);
    await session.run("And more");
    expect(session.listSeenMessages(2)).toEqual(["user: Do it", "assistant: An answer.", "user: And more"]);
    const { out } = await runCommandLine(stage, "show", session.id, "--branches");
    expect(out).toMatch(/● main 2 messages\n {2}● fork-\S+ from #1 · 4 messages · a reset: .*← head/);
    expect(JSON.stringify((await holdfast.session(session.id).messages.request()).messages)).toContain(
      "And more",
    );
  });

  thoroughTest(
    "to after its opening: the answer is requested again, the first one stays on its branch",
    async () => {
      const session = stage.session({ replies: [{ text: "An answer." }] });
      await session.run("Do it");
      await reset(session, "call-model");
      expect(session.listRequests()).toHaveLength(2);
      expect(await said(session, "main")).toEqual(["Do it", "An answer."]);
      expect((await branchesOf(session)).map(({ origin }) => origin)).toEqual(["first", "reset"]);
      const types = await session.readEventTypes();
      expect(types.filter((type) => type === "AgentStart" || type === "AgentEnd")).toEqual([
        "AgentStart",
        "AgentEnd",
      ]);
    },
  );

  thoroughTest("to an earlier loop of an interactive run: the next loop follows that one", async () => {
    const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
    await session.start("First", { mode: "interactive" });
    await session.waitForRequest(0);
    await expect.poll(async () => (await session.readStatus()).status).toBe("waiting");
    await holdfast.session(session.id).prompt("Second");
    await expect
      .poll(async () => (await stage.transcript.readLoops(session.id))[1]?.status)
      .toBe("completed");
    const before = await said(session, "main");
    await resetTo(stage, session, await asked(session, "call-model"));
    await expect.poll(() => session.listRequests().length).toBeGreaterThanOrEqual(3);
    await expect
      .poll(async () => (await stage.transcript.readSession(session.id))?.headBranch)
      .toMatch(/^fork-/);
    await expect.poll(async () => (await session.readStatus()).status).toBe("waiting");
    await session.handle.terminate();
    expect(await said(session, "main")).toEqual(before);
    expect((await said(session)).slice(0, 2)).toEqual(["First", "One."]);
    const head = await said(session);
    await session.run("Third");
    expect(await said(session)).toEqual([...head, "Third", expect.any(String)]);
  });

  test("in the middle of parallel tools: each call has one result, on the one branch and on the other", async () => {
    gates.get("quick").open();
    const session = stage.session({
      replies: [{ toolCalls: [hold("quick"), hold("slow")] }, { text: "Done." }],
      agent: { tools: ["hold"], toolStrategy: { type: "parallel" } },
    });
    await session.start("Go");
    await gates.get("slow").arrived;
    await expect.poll(async () => (await said(session)).length).toBeGreaterThanOrEqual(3);
    const calls = (await listActivities(session)).filter(({ type }) => type === "hold");
    expect(calls).toHaveLength(2);
    gates.get("slow").open();
    await session.readResult();
    const whole = ["Go", "", "passed quick", "passed slow", "Done."];
    expect(await said(session)).toEqual(whole);
    // The first workflow task after the first result: the second call was still running.
    const { events = [] } = await session.handle.fetchHistory();
    const ends = (events ?? []).filter(
      (event) =>
        event.activityTaskCompletedEventAttributes !== null &&
        event.activityTaskCompletedEventAttributes !== undefined,
    );
    const first = ends.find(
      (event) =>
        Number(event.activityTaskCompletedEventAttributes?.scheduledEventId) === calls[0]?.scheduledId,
    );
    const task = (events ?? []).find(
      (event) => Number(event.eventId) > Number(first?.eventId) && event.workflowTaskCompletedEventAttributes,
    );
    await resetTo(stage, session, Number(task?.eventId));
    await session.readResult();
    expect(await said(session, "main")).toEqual(whole);
    expect(await said(session)).toEqual(whole);
    expect((await branchesOf(session)).filter(({ isHead }) => isHead)).toMatchObject([{ origin: "reset" }]);
    const events_ = await session.readEvents();
    expect(events_.map(({ sequence }) => sequence)).toEqual(events_.map((_, index) => index));
  });

  thoroughTest(
    "after a model's revert, and at the answer that reverts: each run has a branch of its own",
    async () => {
      const look = { toolCalls: [{ name: "list_files", arguments: { path: "." } }] };
      const session = stage.session({ agent: { tools: ["list_files", "revert_to_state"] } });
      const own = ({ conversation }: { conversation: string }) => conversation === session.id;
      const back = {
        text: "Back",
        toolCalls: [
          { name: "revert_to_state", arguments: { category: "failure", step: "n0", summary: "closed" } },
        ],
      };
      stage.model.script({
        conversations: [
          {
            match: (question) => own(question) && JSON.stringify(question.body).includes("lesson]"),
            replies: [{ text: "Done." }],
          },
          { match: own, replies: [{ text: "Wrong way", ...look }, back] },
        ],
      });
      await session.run("Go");
      const before = await branchesOf(session);
      expect(before.map(({ origin }) => origin)).toEqual(["first", "revert"]);
      const answer = await said(session);
      // The answer after the revert is requested again: its branch is started over.
      await reset(session, "call-model", 2);
      const after = await branchesOf(session);
      expect(after.slice(0, 2).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
      // The earlier run wrote what the new one leaves: that is a branch of its own too.
      expect(after.slice(2).map(({ origin }) => origin)).toEqual(["reset", "revert"]);
      expect(await said(session)).toEqual(answer);
      expect(await said(session, before[1]?.id)).toEqual(answer);
      // The answer that reverts is given again.
      await reset(session, "call-model", 1);
      expect(await said(session)).toEqual(answer);
      for (const { id } of after) expect((await said(session, id)).length).toBeGreaterThan(2);
      expect(session.listSeenMessages(session.listRequests().length - 1)).toEqual(
        session.listSeenMessages(2),
      );
      const request = await holdfast.session(session.id).messages.request();
      expect(request.messages.map(({ message }) => message.role)).toEqual(["user", "user"]);
    },
  );

  thoroughTest(
    "in the middle of a compaction: the view is built again, and each branch keeps its own text",
    async () => {
      const long = "All work and no play makes a long day. ".repeat(60);
      const look = { text: long, toolCalls: [{ name: "list_files", arguments: { path: "." } }] };
      const usage = { input: 0, output: 0 };
      const workspace = await mkdtemp(join(stage.home, "quiet-"));
      const session = stage.session({
        replies: Array.from({ length: 12 }, (_, n) =>
          n === 11 ? { text: "Done.", usage } : { ...look, usage },
        ),
        agent: {
          tools: ["list_files"],
          workspace,
          context: {
            maxContextTokens: 6000,
            systemPromptTokens: 100,
            compaction: { keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 200 },
          },
          limits: { maxTurns: 14 },
        },
      });
      await session.run("Go");
      const requests = session.listRequests().length;
      const last = session.listSeenMessages(requests - 1);
      const main = await said(session, "main");
      await reset(session, "compact");
      expect(session.listRequests().length).toBeGreaterThan(requests);
      expect(await said(session, "main")).toEqual(main);
      expect(session.listSeenMessages(session.listRequests().length - 1)).toEqual(last);
      const request = await holdfast.session(session.id).messages.request();
      expect(request.messages.some(({ origin }) => origin.type === "compaction")).toBe(true);
      expect((await session.readEventTypes()).filter((type) => type === "AgentEnd")).toHaveLength(1);
    },
  );
});
