import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { superviseWorker } from "../../src/testing/supervised-worker.ts";
import { TEST_KEY_NAME } from "../../src/testing/test-agent.ts";
import { startWorkerProcess } from "../../src/testing/worker-process.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { TEST_KEY } from "../workflows/support/test-environment.ts";
import { type CrashEnvironment, expectComplete, openCrashEnvironment } from "./support/crash-environment.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

thoroughTest(
  "under supervision a killed worker is replaced by another, and the run ends as if nothing had happened",
  async () => {
    const { address, namespace, home, taskQueue } = stage;
    const ready: number[] = [];
    const worker = await superviseWorker({
      address,
      namespace,
      home,
      taskQueue,
      env: { [TEST_KEY_NAME]: TEST_KEY },
      onReady: ({ pid }) => ready.push(pid),
    });
    onTestFinished(() => worker.stop());
    const session = stage.session({ replies: [{ text: "Whole.", holdUntil: "supervised" }] });
    await session.start("Go");
    await stage.model.waitForHold("supervised");
    const successor = await worker.kill("SIGKILL");
    stage.model.release("supervised");
    expect(await session.readResult()).toMatchObject({ text: "Whole." });
    expect(worker.current()).toBe(successor);
    expect(ready).toHaveLength(2);
    expect(worker.restarts()).toBe(1);
    await expectComplete(stage, session);
  },
);

thoroughTest("a worker that cannot start reports the reason", async () => {
  const { address, home, taskQueue } = stage;
  const start = startWorkerProcess({ address, namespace: "no-such-namespace", home, taskQueue });
  await expect(start).rejects.toThrow(/did not start[\s\S]*no-such-namespace/);
});
