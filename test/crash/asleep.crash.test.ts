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

/** After ten seconds of sleep, the worker's own SDK reports that the call has ended, and it never reaches the store. */
const TRIES = 4;

thoroughTest(
  "a worker that is suspended beyond its heartbeats is fenced: its late answer is rejected, the other worker's is stored",
  async () => {
    for (let tried = 1; ; tried++) {
      const refused = await sleepThrough(`sleeper-${tried}`);
      if (refused) return;
      // On a busy machine the other worker may take over too late. The guarantee holds in that case too.
      expect(tried, "the late write was never tried").toBeLessThan(TRIES);
    }
  },
  180_000,
);

/** Whether the late write was attempted, and rejected. */
async function sleepThrough(hold: string): Promise<boolean> {
  const session = stage.session({ replies: [{ text: "Kept answer.", holdUntil: hold }] });
  const proxy = await startProxy(stage.address);
  const asleep = await stage.startWorker({ address: proxy.address, env: { HOLDFAST_LOG: "debug" } });
  await session.start("Go");
  await stage.model.waitForHold(hold);
  asleep.signal("SIGSTOP");
  const awake = await stage.startWorker();
  // The other worker takes over right after the five seconds of the heartbeat timeout.
  await stage.client.workflowService.resetStickyTaskQueue({
    namespace: stage.namespace,
    execution: { workflowId: session.id },
  });
  const again = await waitForExecution(stage, session, "call-model", 2, 20_000);
  expect(again.process).toBe(awake.id);
  const second = await session.waitForRequest(1);
  await eventually(() => second.waitingGate === hold);
  // The suspended worker's answer arrives first: it wakes with the complete answer while the other still receives.
  awake.signal("SIGSTOP");
  stage.model.release(hold);
  await eventually(() => session.listRequests()[0]?.outcome === "answered");
  // Nothing can tell the worker that its time is over: it must reach the store.
  proxy.stall();
  asleep.signal("SIGCONT");
  const refused = await eventually(() => /fenced|FencedError/.test(asleep.stderr()), {
    what: "the refusal of the late write",
    timeoutMs: 5000,
  }).then(
    () => true,
    () => false,
  );
  proxy.resume();
  expect((await session.readEntries()).length).toBe(1);
  awake.signal("SIGCONT");
  expect(await session.readResult()).toMatchObject({ text: "Kept answer." });
  expect(await session.readConversation()).toEqual(["user: Go", "assistant: Kept answer."]);
  await expectComplete(stage, session);
  await asleep.kill("SIGKILL");
  await awake.kill("SIGKILL");
  await proxy.close();
  return refused;
}
