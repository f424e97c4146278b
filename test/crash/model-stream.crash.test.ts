import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import {
  type CrashEnvironment,
  expectComplete,
  openCrashEnvironment,
  waitForExecution,
} from "./support/crash-environment.ts";
import { startProxy } from "./support/stalling-proxy.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

/** The longest time from the death of a worker with a running sibling to the next step. */
const RECOGNISED_MS = 3000;

for (const holdAt of ["head", "middle"] as const) {
  thoroughTest(
    `killed at the ${holdAt} of a model stream, with a sibling: requested again within 3 s, answered once`,
    async () => {
      const gate = `kill-${holdAt}`;
      const session = stage.session({ replies: [{ text: "The whole answer.", holdUntil: gate, holdAt }] });
      const first = await stage.startWorker();
      await session.start("Go");
      await stage.model.waitForHold(gate);
      const second = await stage.startWorker();
      const killedAt = Date.now();
      await first.kill("SIGKILL");
      const again = await waitForExecution(stage, session, "call-model", 2);
      expect(again.startedAtMs - killedAt).toBeLessThan(RECOGNISED_MS);
      expect(again.process).toBe(second.id);
      stage.model.release(gate);
      expect(await session.readResult()).toMatchObject({ text: "The whole answer." });
      expect(session.listRequests().map(({ outcome }) => outcome)).toEqual(["aborted-by-client", "answered"]);
      expect(await session.readConversation()).toEqual(["user: Go", "assistant: The whole answer."]);
      await expectComplete(stage, session);
    },
  );
}

thoroughTest(
  "killed after the last byte and before the answer was stored: paid again, stored once",
  async () => {
    const session = stage.session({ replies: [{ text: "Unread.", holdUntil: "unread", holdAt: "end" }] });
    const first = await stage.startWorker();
    await session.start("Go");
    const request = await stage.model.waitForHold("unread");
    first.signal("SIGSTOP");
    stage.model.release("unread");
    await eventually(() => request.outcome === "answered");
    await first.kill("SIGKILL");
    await stage.startWorker();
    expect(await session.readResult()).toMatchObject({ text: "Unread." });
    expect(session.listRequests().map(({ outcome }) => outcome)).toEqual(["answered", "answered"]);
    expect(await session.readConversation()).toEqual(["user: Go", "assistant: Unread."]);
    await expectComplete(stage, session);
  },
);

thoroughTest(
  "killed after the answer was stored and before Temporal knows: never paid again (design 3.5)",
  async () => {
    const proxy = await startProxy(stage.address);
    const session = stage.session({ replies: [{ text: "Stored.", holdUntil: "stored" }] });
    const first = await stage.startWorker({ address: proxy.address });
    await session.start("Go");
    await stage.model.waitForHold("stored");
    proxy.stall();
    stage.model.release("stored");
    await eventually(async () =>
      (await stage.transcript.readSteps(session.id)).some(
        ({ kind, storedAtMs }) => kind === "call-model" && storedAtMs,
      ),
    );
    expect((await session.handle.describe()).raw.pendingActivities).toHaveLength(1);
    await first.kill("SIGKILL");
    await proxy.close();
    await stage.startWorker();
    expect(await session.readResult()).toMatchObject({ text: "Stored." });
    expect(session.listRequests()).toHaveLength(1);
    await expectComplete(stage, session);
  },
);

thoroughTest(
  "without dead-worker detection, as for a lost host, the death is noticed within 12 s",
  async () => {
    const session = stage.session({ replies: [{ text: "Late.", holdUntil: "lost-host" }] });
    const first = await stage.startWorker({ deadWorkerDetection: false });
    await session.start("Go");
    await stage.model.waitForHold("lost-host");
    await stage.startWorker({ deadWorkerDetection: false });
    const killedAt = Date.now();
    await first.kill("SIGKILL");
    const again = await waitForExecution(stage, session, "call-model", 2);
    expect(again.startedAtMs - killedAt).toBeLessThan(12_000);
    stage.model.release("lost-host");
    expect(await session.readResult()).toMatchObject({ text: "Late." });
    await expectComplete(stage, session);
  },
);

thoroughTest(
  "three workers in a row that die during one model call end the run, with that reason",
  async () => {
    const session = stage.session({ replies: [{ text: "Never.", holdUntil: "three" }] });
    await session.start("Go");
    let worker = await stage.startWorker();
    for (let death = 1; death <= 3; death++) {
      await waitForExecution(stage, session, "call-model", death);
      await session.waitForRequest(death - 1);
      await worker.kill("SIGKILL");
      worker = await stage.startWorker();
    }
    const { readResult } = await session.readFailure();
    expect(readResult?.outcome).toMatchObject({ type: "failed", fault: "worker-lost" });
    expect(session.listRequests()).toHaveLength(3);
  },
);
