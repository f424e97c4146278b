import { WithStartWorkflowOperation } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../src/testing/eventually.ts";
import type { agent } from "../../src/workflows/loop.ts";
import { promptUpdate, steerSignal, stopSignal } from "../../src/workflows/messages.ts";
import { thorough } from "../support/depth.ts";
import type { Session } from "./support/session.ts";
import { openStage, type Stage } from "./support/temporal.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const waiting = (session: Session) =>
  eventually(async () => (await session.status()).status === "waiting", { what: "the wait for a prompt" });

test("an interactive run answers prompt after prompt, each in a loop of its own, with all before in view", async () => {
  const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
  await session.start("First", { mode: "interactive" });
  await waiting(session);
  const accepted = await session.handle.executeUpdate(promptUpdate, { args: [{ id: "p2", text: "Second" }] });
  expect(accepted).toEqual({ id: "p2", queued: 0 });
  await session.waitForRequest(1);
  await waiting(session);
  expect(session.seen(1)).toEqual(["user: First", "assistant: One.", "user: Second"]);
  expect(await stage.transcript.loops(session.id)).toHaveLength(2);
  await session.handle.signal(stopSignal, "enough");
  expect(await session.result()).toMatchObject({ text: "Two.", outcome: { type: "answered" } });
});

thorough("a prompt that is sent twice with one id is answered once", async () => {
  const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
  await session.start("First", { mode: "interactive" });
  await waiting(session);
  for (let sent = 0; sent < 2; sent++) {
    await session.handle.executeUpdate(promptUpdate, { args: [{ id: "p2", text: "Second" }] });
    await waiting(session);
  }
  expect(session.requests()).toHaveLength(2);
  await session.handle.signal(stopSignal);
  await session.result();
});

thorough("an interactive run that nobody speaks to ends after its idle time-out", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  const started = performance.now();
  await session.start("First", { mode: "interactive", idleTimeoutMs: 400 });
  expect(await session.result()).toMatchObject({ text: "One.", outcome: { type: "answered" } });
  expect(performance.now() - started).toBeGreaterThan(400);
});

thorough(
  "an interactive run begins without a prompt, and steering that came while it waited precedes the prompt (LOOP-08)",
  async () => {
    const session = stage.session({ replies: [{ text: "One." }] });
    await session.start(undefined, { mode: "interactive" });
    await waiting(session);
    await session.handle.signal(steerSignal, "Before");
    await eventually(async () => (await session.status()).queued.steering === 1);
    await session.handle.executeUpdate(promptUpdate, { args: ["After"] });
    await session.waitForRequest(0);
    expect(session.seen(0)).toEqual(["user: Before", "user: After"]);
    await waiting(session);
    await session.handle.signal(stopSignal);
    await session.result();
  },
);

thorough("one call starts an interactive run and prompts it", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  const start = new WithStartWorkflowOperation<typeof agent>("agent", {
    ...session.starting({ mode: "interactive", idleTimeoutMs: 300 }),
    workflowIdConflictPolicy: "USE_EXISTING",
  });
  await stage.client.workflow.executeUpdateWithStart(promptUpdate, {
    args: [{ id: "p1", text: "First" }],
    startWorkflowOperation: start,
  });
  expect(await session.result()).toMatchObject({ text: "One." });
});

thorough("stop ends an interactive run that waits, at once", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  await session.start("First", { mode: "interactive" });
  await waiting(session);
  await session.handle.signal(stopSignal, "home time");
  expect(await session.result()).toMatchObject({ outcome: { type: "answered" } });
});
