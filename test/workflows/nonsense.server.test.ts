import { temporal } from "@temporalio/proto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { thorough } from "../support/depth.ts";
import type { Session } from "./support/session.ts";
import { openStage, type Stage } from "./support/temporal.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

/** Asked while the vendor is silent; the run must then answer as if nothing had come. */
async function survives(name: string, send: (session: Session) => Promise<void>): Promise<void> {
  const session = stage.session({ replies: [{ text: "Unmoved.", holdUntil: name }] });
  await session.start("Go");
  await stage.model.waitForHold(name);
  await send(session);
  expect(await session.status()).toMatchObject({ status: "running", queued: { steering: 0, followUps: 0 } });
  stage.model.release(name);
  expect(await session.result()).toMatchObject({ text: "Unmoved." });
  expect(await session.conversation()).toHaveLength(2);
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

test("signals that make no sense do not break a run", () =>
  survives("nonsense", async ({ handle }) => {
    for (const args of NONSENSE) {
      for (const name of ["steer", "followUp", "queueMode", "clearQueues", "no-such-signal"]) {
        await handle.signal(name, ...(args as [unknown]));
      }
    }
  }));

thorough("a signal whose payload nobody can read does not break a run", () =>
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

thorough("a start without anything ends at once and says so", async () => {
  const session = stage.session();
  await stage.client.workflow.start("agent", {
    workflowId: session.id,
    taskQueue: stage.taskQueue,
  });
  expect(await session.result()).toMatchObject({ outcome: { type: "delivered", messages: 0 } });
});

thorough("stop with a nonsense reason stops", async () => {
  const session = stage.session({ replies: [{ text: "Never.", holdUntil: "odd-stop" }] });
  await session.start("Go");
  await stage.model.waitForHold("odd-stop");
  await session.handle.signal("stop", { why: 7 } as never);
  expect(await session.result()).toMatchObject({
    outcome: { type: "stopped", reason: "stop was requested" },
  });
});
