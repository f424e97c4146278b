import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../src/testing/eventually.ts";
import { steerSignal } from "../../src/workflows/messages.ts";
import { thorough } from "../support/depth.ts";
import type { Session } from "../workflows/support/session.ts";
import { lockTranscript } from "./support/lock.ts";
import { startProxy } from "./support/proxy.ts";
import { type CrashStage, expectWhole, openCrashStage } from "./support/temporal.ts";

let stage: CrashStage;

beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

function runningActivity(session: Session, type: string) {
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

thorough(
  "killed during open-loop: one loop, one prompt, and what was steered meanwhile is read once",
  async () => {
    const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
    const first = await stage.worker();
    const unlock = lockTranscript(stage.home);
    await session.start("Go");
    await runningActivity(session, "open-loop");
    await session.handle.signal(steerSignal, "Mind this");
    await first.kill("SIGKILL");
    unlock();
    await stage.worker();
    await session.result();
    const conversation = await session.conversation();
    expect(conversation.filter((line) => line.startsWith("user")).sort()).toEqual([
      "user: Go",
      "user: Mind this",
    ]);
    expect(await stage.transcript.loops(session.id)).toHaveLength(1);
    await expectWhole(stage, session);
  },
  40_000,
);

thorough(
  "killed during close-loop: the loop is closed once, with its terminal event",
  async () => {
    const proxy = await startProxy(stage.address);
    const session = stage.session({ replies: [{ text: "One.", holdUntil: "closing" }] });
    const first = await stage.worker({ address: proxy.address });
    await session.start("Go");
    await stage.model.waitForHold("closing");
    proxy.stall();
    stage.model.release("closing");
    await eventually(async () =>
      (await stage.transcript.steps(session.id)).some(
        ({ kind, storedAtMs }) => kind === "model" && storedAtMs,
      ),
    );
    const unlock = lockTranscript(stage.home);
    proxy.flow();
    await runningActivity(session, "close-loop");
    await session.handle.signal(steerSignal, { id: "late", text: "Too late" });
    await first.kill("SIGKILL");
    unlock();
    await proxy.close();
    await stage.worker();
    expect(await session.result()).toMatchObject({ text: "One.", outcome: { type: "answered" } });
    expect((await stage.transcript.inbox(session.id)).map(({ id }) => id)).toEqual(["late"]);
    expect(session.requests()).toHaveLength(1);
    await expectWhole(stage, session);
  },
  40_000,
);
