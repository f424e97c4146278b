import { WithStartWorkflowOperation } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { agent } from "../../src/workflows/agent.ts";
import { promptUpdate, steerSignal, stopSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

const waiting = (session: TestSession) =>
  eventually(async () => (await session.readStatus()).status === "waiting", {
    what: "the wait for a prompt",
  });

test("an interactive run answers prompt after prompt, each in a loop of its own, with the earlier conversation in view [ORC-02.1]", async () => {
  const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
  await session.start("First", { mode: "interactive" });
  await waiting(session);
  const accepted = await session.handle.executeUpdate(promptUpdate, { args: [{ id: "p2", text: "Second" }] });
  expect(accepted).toEqual({ id: "p2", queued: 0 });
  await session.waitForRequest(1);
  await waiting(session);
  expect(session.listSeenMessages(1)).toEqual(["user: First", "assistant: One.", "user: Second"]);
  expect(await stage.transcript.readLoops(session.id)).toHaveLength(2);
  await session.handle.signal(stopSignal, "enough");
  expect(await session.readResult()).toMatchObject({ text: "Two.", outcome: { type: "answered" } });
});

thoroughTest("a prompt that is sent twice with one id is answered once", async () => {
  const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
  await session.start("First", { mode: "interactive" });
  await waiting(session);
  for (let sent = 0; sent < 2; sent++) {
    await session.handle.executeUpdate(promptUpdate, { args: [{ id: "p2", text: "Second" }] });
    await waiting(session);
  }
  expect(session.listRequests()).toHaveLength(2);
  await session.handle.signal(stopSignal);
  await session.readResult();
});

thoroughTest("an interactive run without prompts ends after its idle timeout", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  const started = performance.now();
  await session.start("First", { mode: "interactive", idleTimeoutMs: 400 });
  expect(await session.readResult()).toMatchObject({ text: "One.", outcome: { type: "answered" } });
  expect(performance.now() - started).toBeGreaterThan(400);
});

thoroughTest(
  "an interactive run begins without a prompt, and steering that arrived while it waited precedes the prompt (LOOP-08)",
  async () => {
    const session = stage.session({ replies: [{ text: "One." }] });
    await session.start(undefined, { mode: "interactive" });
    await waiting(session);
    await session.handle.signal(steerSignal, "Before");
    await eventually(async () => (await session.readStatus()).queued.steering === 1);
    await session.handle.executeUpdate(promptUpdate, { args: ["After"] });
    await session.waitForRequest(0);
    expect(session.listSeenMessages(0)).toEqual(["user: Before", "user: After"]);
    await waiting(session);
    await session.handle.signal(stopSignal);
    await session.readResult();
  },
);

thoroughTest("one call starts an interactive run and prompts it", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  const start = new WithStartWorkflowOperation<typeof agent>("agent", {
    ...session.createStartRequest({ mode: "interactive", idleTimeoutMs: 300 }),
    workflowIdConflictPolicy: "USE_EXISTING",
  });
  await stage.client.workflow.executeUpdateWithStart(promptUpdate, {
    args: [{ id: "p1", text: "First" }],
    startWorkflowOperation: start,
  });
  expect(await session.readResult()).toMatchObject({ text: "One." });
});

thoroughTest("stop ends an interactive run that waits, at once", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  await session.start("First", { mode: "interactive" });
  await waiting(session);
  await session.handle.signal(stopSignal, "home time");
  expect(await session.readResult()).toMatchObject({ outcome: { type: "answered" } });
});
