import { afterAll, beforeAll, expect, test } from "vitest";
import { promptUpdate, steerUpdate } from "../../src/workflows/messages.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

const cause = (error: unknown) => (error as { cause?: { type?: string; message?: string } }).cause;

test("an acknowledged message is answered with its id and the queue's size", async () => {
  const session = stage.session({ replies: [{ text: "First.", holdUntil: "ack" }, { text: "Second." }] });
  await session.start("Go");
  await stage.model.waitForHold("ack");
  const accepted = await session.handle.executeUpdate(steerUpdate, { args: [{ id: "a1", text: "Hear" }] });
  expect(accepted).toEqual({ id: "a1", queued: 1 });
  const again = await session.handle.executeUpdate(steerUpdate, { args: [{ id: "a1", text: "Hear" }] });
  expect(again).toEqual({ id: "a1", queued: 1 });
  stage.model.release("ack");
  await session.readResult();
  expect(session.listSeenMessages(1)).toEqual(["user: Go", "assistant: First.", "user: Hear"]);
});

thoroughTest("an invalid message is rejected, and leaves no trace in history", async () => {
  const session = stage.session({ replies: [{ text: "Only.", holdUntil: "refuse" }] });
  await session.start("Go");
  await stage.model.waitForHold("refuse");
  for (const words of ["", {}, { text: "" }, { text: 7 }, null]) {
    const refused = session.handle.executeUpdate(steerUpdate, { args: [words as never] });
    await expect(refused).rejects.toMatchObject({ cause: { type: "holdfast/invalid-message" } });
  }
  stage.model.release("refuse");
  await session.readResult();
  const { events } = await session.handle.fetchHistory();
  expect(events?.some(({ workflowExecutionUpdateAcceptedEventAttributes: one }) => one)).toBe(false);
});

thoroughTest(
  "prompt is rejected while a loop runs, with the text that the requirements quote (STEER-12.1)",
  async () => {
    const session = stage.session({ replies: [{ text: "Only.", holdUntil: "busy" }] });
    await session.start("Go", { mode: "interactive", idleTimeoutMs: 50 });
    await stage.model.waitForHold("busy");
    const refused = session.handle.executeUpdate(promptUpdate, { args: ["Next"] });
    await expect(refused).rejects.toSatisfy(
      (error) =>
        cause(error)?.type === "holdfast/busy" &&
        cause(error)?.message === "Agent is already streaming. Use steer() or follow_up().",
    );
    stage.model.release("busy");
    expect(await session.readResult()).toMatchObject({ text: "Only." });
  },
);
