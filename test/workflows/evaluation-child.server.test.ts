import { fileURLToPath } from "node:url";
import { NativeConnection, Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { TestEvaluation } from "./support/test-evaluation.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

// Bundling takes seconds.
thoroughTest(
  "an application's workflow compares agents through a child workflow of the type evaluation [PAR-01.3]",
  async () => {
    const { address, namespace, taskQueue } = stage;
    const contest = new TestEvaluation(stage, [
      { replies: [{ text: "one" }] },
      { replies: [{ text: "and two" }] },
    ]);
    const connection = await NativeConnection.connect({ address });
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: `${taskQueue}-own`,
      workflowsPath: fileURLToPath(new URL("./support/calling-workflow.ts", import.meta.url)),
    });
    const answer = await worker.runUntil(
      stage.client.workflow.execute("callEvaluation", {
        workflowId: `caller-of-${contest.id}`.slice(0, 200),
        taskQueue: `${taskQueue}-own`,
        args: [contest.id, taskQueue, contest.createRequest("Go", { strategy: { type: "elaborate" } })],
      }),
    );
    expect(answer).toBe("1: and two");
    await connection.close();
  },
);
