import { afterAll, beforeAll, expect, test } from "vitest";
import { followUpSignal, steerSignal } from "../../src/workflows/messages.ts";
import { thorough } from "../support/depth.ts";
import type { Session } from "./support/session.ts";
import { openStage, type Stage } from "./support/temporal.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

function leave(session: Session, words: { id: string; text: string }) {
  const { args: _, ...options } = session.starting();
  return stage.client.workflow.signalWithStart("agent", {
    ...options,
    args: [{}],
    signal: steerSignal,
    signalArgs: [words],
  });
}

test("a message for a session at rest lies in its inbox and precedes the next prompt (LOOP-08)", async () => {
  const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
  await session.run("First");
  await leave(session, { id: "i1", text: "By the way" });
  expect(await session.result()).toMatchObject({ outcome: { type: "delivered", messages: 1 } });
  expect(await stage.transcript.inbox(session.id)).toMatchObject([{ id: "i1", text: "By the way" }]);
  await session.run("Second");
  expect(session.seen(1)).toEqual(["user: First", "assistant: One.", "user: By the way", "user: Second"]);
  expect(await stage.transcript.inbox(session.id)).toEqual([]);
});

thorough("a message for a session that does not exist yet is the first that its agent reads", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  await leave(session, { id: "i1", text: "Early" });
  await session.result();
  await session.run("First");
  expect(session.seen(0)).toEqual(["user: Early", "user: First"]);
});

thorough("the same message left twice is delivered once", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  for (let sent = 0; sent < 2; sent++) {
    await leave(session, { id: "same", text: "Once" });
    await session.result();
  }
  await session.run("First");
  expect(session.seen(0)).toEqual(["user: Once", "user: First"]);
});

thorough("many messages left at once are all delivered, in order", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  for (let index = 0; index < 10; index++) await leave(session, { id: `i${index}`, text: `note ${index}` });
  await session.result();
  await session.run("First");
  expect(session.seen(0)).toEqual([
    ...Array.from({ length: 10 }, (_, i) => `user: note ${i}`),
    "user: First",
  ]);
});

thorough("messages that were accepted outlive a run that cannot open its loop", async () => {
  const session = stage.session({ agent: { workspace: "/nowhere/at/all" } });
  await stage.client.workflow.signalWithStart("agent", {
    ...session.starting({ prompt: "Go" }),
    signal: steerSignal,
    signalArgs: [{ id: "kept", text: "Keep me" }],
  });
  await session.handle.signal(followUpSignal, { id: "kept too", text: "Me too" }).catch(() => undefined);
  await session.failure();
  expect((await stage.transcript.inbox(session.id)).map(({ id }) => id)).toContain("kept");
});
