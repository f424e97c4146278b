import { afterAll, beforeAll, expect, test } from "vitest";
import { followUpSignal, steerSignal } from "../../src/workflows/messages.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

function leave(session: TestSession, words: { id: string; text: string }) {
  const { args: _, ...options } = session.createStartRequest();
  return stage.client.workflow.signalWithStart("agent", {
    ...options,
    args: [{}],
    signal: steerSignal,
    signalArgs: [words],
  });
}

test("a message for an idle session waits in its inbox and precedes the next prompt (LOOP-08)", async () => {
  const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
  await session.run("First");
  await leave(session, { id: "i1", text: "By the way" });
  expect(await session.readResult()).toMatchObject({ outcome: { type: "delivered", messages: 1 } });
  expect(await stage.transcript.readInbox(session.id)).toMatchObject([{ id: "i1", text: "By the way" }]);
  await session.run("Second");
  expect(session.listSeenMessages(1)).toEqual([
    "user: First",
    "assistant: One.",
    "user: By the way",
    "user: Second",
  ]);
  expect(await stage.transcript.readInbox(session.id)).toEqual([]);
});

thoroughTest(
  "a message for a session that does not exist yet is the first that its agent reads",
  async () => {
    const session = stage.session({ replies: [{ text: "One." }] });
    await leave(session, { id: "i1", text: "Early" });
    await session.readResult();
    await session.run("First");
    expect(session.listSeenMessages(0)).toEqual(["user: Early", "user: First"]);
  },
);

thoroughTest("the same message left twice is delivered once", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  for (let sent = 0; sent < 2; sent++) {
    await leave(session, { id: "same", text: "Once" });
    await session.readResult();
  }
  await session.run("First");
  expect(session.listSeenMessages(0)).toEqual(["user: Once", "user: First"]);
});

thoroughTest("many messages left at once are all delivered, in order", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  for (let index = 0; index < 10; index++) await leave(session, { id: `i${index}`, text: `note ${index}` });
  await session.readResult();
  await session.run("First");
  expect(session.listSeenMessages(0)).toEqual([
    ...Array.from({ length: 10 }, (_, i) => `user: note ${i}`),
    "user: First",
  ]);
});

thoroughTest("accepted messages survive a run that cannot open its loop", async () => {
  const session = stage.session({ agent: { workspace: "/nowhere/at/all" } });
  await stage.client.workflow.signalWithStart("agent", {
    ...session.createStartRequest({ prompt: "Go" }),
    signal: steerSignal,
    signalArgs: [{ id: "kept", text: "Keep me" }],
  });
  await session.handle.signal(followUpSignal, { id: "kept too", text: "Me too" }).catch(() => undefined);
  await session.readFailure();
  expect((await stage.transcript.readInbox(session.id)).map(({ id }) => id)).toContain("kept");
});
