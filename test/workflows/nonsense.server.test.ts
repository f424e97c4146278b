import { temporal } from "@temporalio/proto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

/** Sends while the vendor is silent; the run must then answer as if nothing had arrived. */
async function survives(name: string, send: (session: TestSession) => Promise<void>): Promise<void> {
  const session = stage.session({ replies: [{ text: "Unmoved.", holdUntil: name }] });
  await session.start("Go");
  await stage.model.waitForHold(name);
  await send(session);
  expect(await session.readStatus()).toMatchObject({
    status: "running",
    queued: { steering: 0, followUps: 0 },
  });
  stage.model.release(name);
  expect(await session.readResult()).toMatchObject({ text: "Unmoved." });
  expect(await session.readConversation()).toHaveLength(2);
}

const NONSENSE = [
  [],
  [null],
  [7],
  [""],
  [{}],
  [[]],
  [{ text: 7 }],
  [{ id: "x" }],
  [{ text: "", ref: null }],
  [true],
];

test("invalid signals do not break a run", () =>
  survives("nonsense", async ({ handle }) => {
    for (const args of NONSENSE) {
      for (const name of ["steer", "followUp", "queueMode", "clearQueues", "no-such-signal"]) {
        await handle.signal(name, ...(args as [unknown]));
      }
    }
  }));

thoroughTest("a signal whose payload cannot be decoded does not break a run", () =>
  survives("unreadable", async ({ id }) => {
    const { Payload } = temporal.api.common.v1;
    const unreadable = [
      Payload.create({ metadata: { encoding: Buffer.from("json/plain") }, data: Buffer.from("no json") }),
      Payload.create({ metadata: { encoding: Buffer.from("binary/unknown") }, data: Buffer.from("?") }),
    ];
    for (const payload of unreadable) {
      await stage.client.workflowService.signalWorkflowExecution({
        namespace: stage.namespace,
        workflowExecution: { workflowId: id },
        signalName: "steer",
        input: { payloads: [payload] },
      });
    }
  }),
);

thoroughTest("a start without arguments ends at once and says so", async () => {
  const session = stage.session();
  await stage.client.workflow.start("agent", {
    workflowId: session.id,
    taskQueue: stage.taskQueue,
  });
  expect(await session.readResult()).toMatchObject({ outcome: { type: "delivered", messages: 0 } });
});

thoroughTest("stop with an invalid reason stops", async () => {
  const session = stage.session({ replies: [{ text: "Never.", holdUntil: "odd-stop" }] });
  await session.start("Go");
  await stage.model.waitForHold("odd-stop");
  await session.handle.signal("stop", { why: 7 } as never);
  expect(await session.readResult()).toMatchObject({
    outcome: { type: "stopped", reason: "stop was requested" },
  });
});
