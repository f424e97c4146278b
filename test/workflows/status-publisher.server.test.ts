import { fileURLToPath } from "node:url";
import { NativeConnection, Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

thoroughTest(
  "current details are formatted when they are read, and are those of the latest state",
  async () => {
    const connection = await NativeConnection.connect({ address: stage.address });
    const taskQueue = `${stage.taskQueue}-publisher`;
    const worker = await Worker.create({
      connection,
      namespace: stage.namespace,
      taskQueue,
      workflowsPath: fileURLToPath(new URL("./support/publishing-workflow.ts", import.meta.url)),
    });
    await worker.runUntil(async () => {
      const run = await stage.client.workflow.start("publishStates", { workflowId: taskQueue, taskQueue });
      expect(await run.query("formatted")).toBe(0);
      expect(await run.query("__temporal_workflow_metadata")).toMatchObject({
        currentDetails: '- **Turns**: 50\n- "quoted" \u{1F980}',
      });
      expect(await run.query("formatted")).toBe(1);
      await run.signal("end");
      await run.result();
    });
    await connection.close();
  },
);
