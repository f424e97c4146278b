import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { Gates } from "../workflows/support/gates.ts";
import { connectClient, runCommandLine } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";

const gates = new Gates();
let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool()] });
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const hold = (gate: string) => ({ toolCalls: [{ name: "hold", arguments: { gate } }] });

test("metadata of a prompt is in its message and in the record of its loop, and no model sees it [EVT-02.5, SES-02.3]", async () => {
  const session = stage.session({
    replies: [hold("metadata"), { text: "Done." }, { text: "Again." }],
    agent: { tools: ["hold"] },
  });
  const ours = holdfast.session(session.id);
  await holdfast.start({
    agent: session.definition,
    session: session.id,
    prompt: "Go",
    metadata: { request: "canary-1", user: { id: 7 } },
  });
  await gates.get("metadata").arrived;
  await ours.steer("Faster", { acknowledge: true, metadata: { request: "canary-2" } });
  gates.get("metadata").open();
  expect(await session.readResult()).toMatchObject({ text: "Done." });

  const cli = await runCommandLine(
    stage,
    "send",
    session.id,
    "More",
    "--metadata",
    '{"request":"canary-3"}',
    "--json",
  );
  expect(cli).toMatchObject({ code: 0 });

  const { loops } = await ours.record();
  expect(loops.map(({ metadata }) => metadata)).toEqual([
    { request: "canary-1", user: { id: 7 } },
    { request: "canary-3" },
  ]);
  const starts = loops.flatMap(({ events }) => events.slice(0, 1));
  expect(starts.map(({ event }) => event)).toEqual(
    loops.map(({ metadata }) => expect.objectContaining({ type: "AgentStart", metadata })),
  );
  const messages = await session.readEntries();
  expect(messages.flatMap(({ message }) => (message.role === "user" ? [message.metadata] : []))).toEqual([
    { request: "canary-1", user: { id: 7 } },
    { request: "canary-2" },
    { request: "canary-3" },
  ]);
  expect(session.listRequests().length).toBe(3);
  expect(JSON.stringify(session.listRequests())).not.toContain("canary");
});
