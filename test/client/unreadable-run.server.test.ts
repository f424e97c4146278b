import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient, runCommandLine } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

/** A run whose task fails forever: its input is encrypted with a key that no worker has. */
async function startUnreadable(workflowId: string): Promise<void> {
  await stage.client.workflowService.startWorkflowExecution({
    namespace: stage.namespace,
    workflowId,
    workflowType: { name: "agent" },
    taskQueue: { name: stage.taskQueue },
    input: {
      payloads: [{ metadata: { encoding: Buffer.from("binary/encrypted") }, data: Buffer.from("sealed") }],
    },
    requestId: workflowId,
    identity: "test",
  });
  const attempt = async () =>
    (await stage.client.workflow.getHandle(workflowId).describe()).raw.pendingWorkflowTask?.attempt ?? 0;
  await expect.poll(attempt).toBeGreaterThan(1);
}

thoroughTest("stop ends a run whose workflow task fails forever, and says why", async () => {
  const id = stage.session().id;
  await startUnreadable(id);
  expect(await holdfast.session(id).stop("it is broken")).toBe(true);
  const { status } = await stage.client.workflow.getHandle(id).describe();
  expect(status.name).toBe("TERMINATED");
  const { events } = await stage.client.workflow.getHandle(id).fetchHistory();
  expect(events?.at(-1)?.workflowExecutionTerminatedEventAttributes?.reason).toMatch(
    /^it is broken\. Its workflow task failed, so that it could not take the stop request: /,
  );
});

thoroughTest("stop by the command line ends it too", async () => {
  const id = stage.session().id;
  await startUnreadable(id);
  expect(await runCommandLine(stage, "stop", id)).toMatchObject({ code: 0 });
  expect((await stage.client.workflow.getHandle(id).describe()).status.name).toBe("TERMINATED");
});

test("stop of a working run is left to the run: it ends with a complete record", async () => {
  const session = stage.session({ replies: [{ text: "Never.", holdUntil: "readable" }] });
  await session.start("Go");
  await stage.model.waitForHold("readable");
  expect(await holdfast.session(session.id).stop("enough")).toBe(true);
  expect(await session.readResult()).toMatchObject({ outcome: { type: "stopped", reason: "enough" } });
});
