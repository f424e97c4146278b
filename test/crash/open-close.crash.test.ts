import { afterAll, beforeAll, expect } from "vitest";
import { steerSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import type { TestSession } from "../workflows/support/test-session.ts";
import { type CrashEnvironment, expectComplete, openCrashEnvironment } from "./support/crash-environment.ts";
import { startProxy } from "./support/stalling-proxy.ts";
import { lockTranscript } from "./support/transcript-lock.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

function runningActivity(session: TestSession, type: string) {
  return eventually(
    async () => {
      const { raw } = await session.handle.describe();
      // 2 is STARTED.
      return raw.pendingActivities?.some(
        ({ activityType, state }) => activityType?.name === type && state === 2,
      );
    },
    { what: `${type} at work` },
  );
}

thoroughTest(
  "killed during open-loop: one loop, one prompt, and steering from that time is read once",
  async () => {
    const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
    const first = await stage.startWorker();
    const unlock = lockTranscript(stage.home);
    await session.start("Go");
    await runningActivity(session, "open-loop");
    await session.handle.signal(steerSignal, "Mind this");
    await first.kill("SIGKILL");
    unlock();
    await stage.startWorker();
    await session.readResult();
    const conversation = await session.readConversation();
    expect(conversation.filter((line) => line.startsWith("user")).sort()).toEqual([
      "user: Go",
      "user: Mind this",
    ]);
    expect(await stage.transcript.readLoops(session.id)).toHaveLength(1);
    await expectComplete(stage, session);
  },
);

thoroughTest("killed during close-loop: the loop is closed once, with its terminal event", async () => {
  const proxy = await startProxy(stage.address);
  const session = stage.session({ replies: [{ text: "One.", holdUntil: "closing" }] });
  const first = await stage.startWorker({ address: proxy.address });
  await session.start("Go");
  await stage.model.waitForHold("closing");
  proxy.stall();
  stage.model.release("closing");
  await eventually(async () =>
    (await stage.transcript.readSteps(session.id)).some(
      ({ kind, storedAtMs }) => kind === "call-model" && storedAtMs,
    ),
  );
  const unlock = lockTranscript(stage.home);
  proxy.resume();
  await runningActivity(session, "close-loop");
  await session.handle.signal(steerSignal, { id: "late", text: "Too late" });
  await first.kill("SIGKILL");
  unlock();
  await proxy.close();
  await stage.startWorker();
  expect(await session.readResult()).toMatchObject({ text: "One.", outcome: { type: "answered" } });
  expect((await stage.transcript.readInbox(session.id)).map(({ id }) => id)).toEqual(["late"]);
  expect(session.listRequests()).toHaveLength(1);
  await expectComplete(stage, session);
});
