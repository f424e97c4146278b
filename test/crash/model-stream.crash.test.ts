import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../src/testing/eventually.ts";
import { thorough } from "../support/depth.ts";
import { startProxy } from "./support/proxy.ts";
import { type CrashStage, executed, expectWhole, openCrashStage } from "./support/temporal.ts";

let stage: CrashStage;

beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

/** From the kill of a worker whose sibling runs already to the next step. */
const RECOGNISED_MS = 3000;

for (const holdAt of ["head", "middle"] as const) {
  thorough(
    `killed at the ${holdAt} of a model stream, with a sibling: asked again within 3 s, answered once`,
    async () => {
      const gate = `kill-${holdAt}`;
      const session = stage.session({ replies: [{ text: "The whole answer.", holdUntil: gate, holdAt }] });
      const first = await stage.worker();
      await session.start("Go");
      await stage.model.waitForHold(gate);
      const second = await stage.worker();
      const killedAt = Date.now();
      await first.kill("SIGKILL");
      const again = await executed(stage, session, "model", 2);
      expect(again.startedAtMs - killedAt).toBeLessThan(RECOGNISED_MS);
      expect(again.process).toBe(second.id);
      stage.model.release(gate);
      expect(await session.result()).toMatchObject({ text: "The whole answer." });
      expect(session.requests().map(({ outcome }) => outcome)).toEqual(["aborted-by-client", "answered"]);
      expect(await session.conversation()).toEqual(["user: Go", "assistant: The whole answer."]);
      await expectWhole(stage, session);
    },
    40_000,
  );
}

thorough(
  "killed after the last byte and before the answer was stored: paid again, kept once",
  async () => {
    const session = stage.session({ replies: [{ text: "Unread.", holdUntil: "unread", holdAt: "end" }] });
    const first = await stage.worker();
    await session.start("Go");
    const request = await stage.model.waitForHold("unread");
    first.signal("SIGSTOP");
    stage.model.release("unread");
    await eventually(() => request.outcome === "answered");
    await first.kill("SIGKILL");
    await stage.worker();
    expect(await session.result()).toMatchObject({ text: "Unread." });
    expect(session.requests().map(({ outcome }) => outcome)).toEqual(["answered", "answered"]);
    expect(await session.conversation()).toEqual(["user: Go", "assistant: Unread."]);
    await expectWhole(stage, session);
  },
  40_000,
);

thorough(
  "killed after the answer was stored and before Temporal knows: never paid again (design 3.5)",
  async () => {
    const proxy = await startProxy(stage.address);
    const session = stage.session({ replies: [{ text: "Stored.", holdUntil: "stored" }] });
    const first = await stage.worker({ address: proxy.address });
    await session.start("Go");
    await stage.model.waitForHold("stored");
    proxy.stall();
    stage.model.release("stored");
    await eventually(async () =>
      (await stage.transcript.steps(session.id)).some(
        ({ kind, storedAtMs }) => kind === "model" && storedAtMs,
      ),
    );
    expect((await session.handle.describe()).raw.pendingActivities).toHaveLength(1);
    await first.kill("SIGKILL");
    await proxy.close();
    await stage.worker();
    expect(await session.result()).toMatchObject({ text: "Stored." });
    expect(session.requests()).toHaveLength(1);
    await expectWhole(stage, session);
  },
  40_000,
);

thorough(
  "without recognition, as for a lost host, it is noticed within 12 s",
  async () => {
    const session = stage.session({ replies: [{ text: "Late.", holdUntil: "lost-host" }] });
    const first = await stage.worker({ recognition: false });
    await session.start("Go");
    await stage.model.waitForHold("lost-host");
    await stage.worker({ recognition: false });
    const killedAt = Date.now();
    await first.kill("SIGKILL");
    const again = await executed(stage, session, "model", 2);
    expect(again.startedAtMs - killedAt).toBeLessThan(12_000);
    stage.model.release("lost-host");
    expect(await session.result()).toMatchObject({ text: "Late." });
    await expectWhole(stage, session);
  },
  40_000,
);

thorough(
  "three workers in a row that die over one model call end the run with that word",
  async () => {
    const session = stage.session({ replies: [{ text: "Never.", holdUntil: "three" }] });
    await session.start("Go");
    let worker = await stage.worker();
    for (let death = 1; death <= 3; death++) {
      await executed(stage, session, "model", death);
      await session.waitForRequest(death - 1);
      await worker.kill("SIGKILL");
      worker = await stage.worker();
    }
    const { result } = await session.failure();
    expect(result?.outcome).toMatchObject({ type: "failed", fault: "worker-lost" });
    expect(session.requests()).toHaveLength(3);
  },
  60_000,
);
