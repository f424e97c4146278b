import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type ConnectOptions, connect } from "../../src/client/connection/connect.ts";
import type { Holdfast } from "../../src/client/holdfast.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { createWorker } from "../../src/worker.ts";
import { createKeyEnvironment } from "../codec/key-environment.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

const MARKER = "HOLLYHOCK";
const KEYS = { keys: "k1=env:TEST_CODEC_A" };
const OTHER = { keys: "k2=env:TEST_CODEC_B" };
Object.assign(process.env, createKeyEnvironment("TEST_CODEC_A", "TEST_CODEC_B"));

const recite = defineTool({
  name: "recite",
  description: "Says a word",
  inputSchema: z.object({ word: z.string() }),
  execute: ({ word }) => `${MARKER} ${word}`,
});

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment({ encryption: KEYS, tools: [recite] });
});
afterAll(() => stage.close());

const opened: Holdfast[] = [];
afterAll(() => Promise.all(opened.map((one) => one.close())));

async function client(options: ConnectOptions): Promise<Holdfast> {
  const { address, namespace, taskQueue, home } = stage;
  const holdfast = await connect({ address, namespace, taskQueue, home, ...options });
  opened.push(holdfast);
  return holdfast;
}

/** Every byte of a history, as text. */
async function historyOf(workflowId: string): Promise<string> {
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString("latin1"));
    else if (value !== null && typeof value === "object") Object.values(value).forEach(walk);
  };
  walk(await stage.client.workflow.getHandle(workflowId).fetchHistory());
  return texts.join("\n");
}

test("a run with encrypted content works as any other, and its history holds none of it [TMP-09.2]", async () => {
  const session = stage.session({
    agent: { tools: ["recite"], systemPrompt: `You are ${MARKER}` },
    replies: [{ toolCalls: [{ name: "recite", arguments: { word: MARKER } }] }, { text: `${MARKER} it is` }],
  });
  const holdfast = await client({ encryption: KEYS });
  const started = await holdfast.start({
    agent: session.definition,
    prompt: `Say ${MARKER}`,
    session: session.id,
  });
  expect(await started.result()).toMatchObject({ text: `${MARKER} it is` });
  expect(await historyOf(session.id)).not.toContain(MARKER);
  expect(await historyOf(session.id)).toContain("binary/encrypted");
  expect((await holdfast.session(session.id).status()).outcome).toMatchObject({ type: "answered" });
});

test("the text of a failure is encrypted, and readable with the key [TMP-09.2]", async () => {
  const session = stage.session({
    faults: [{ fault: "overloaded", times: 9, message: `${MARKER} is busy` }],
    agent: { retry: { maxRetries: 5, initialDelayMs: 20_000, maxDelayMs: 20_000 } },
  });
  const holdfast = await client({ encryption: KEYS });
  await holdfast.start({ agent: session.definition, prompt: "Hello", session: session.id });
  const failure = await eventually(
    async () => (await holdfast.session(session.id).status()).pending[0]?.lastFailure,
    {
      what: "a failure of the vendor",
    },
  );
  expect(failure).toContain(MARKER);
  expect(await historyOf(session.id)).not.toContain(MARKER);
  const { raw } = await session.handle.describe();
  expect(raw.pendingActivities?.[0]?.lastFailure?.message).toBe("Encoded failure");
  await holdfast.session(session.id).stop();
});

describe("worker and client with different keys are reported on connecting, before anything is sent [TMP-09.3]", () => {
  test.each([
    ["none here", undefined, /they have "k1".*this process has no key/],
    ["another here", OTHER, /they have "k1".*this process has "k2"/],
    ["another of the same name", { keys: "k1=env:TEST_CODEC_B" }, /same name must have the same bytes/],
  ])("%s", async (_, encryption, said) => {
    const options = encryption === undefined ? {} : { encryption };
    await expect(client(options)).rejects.toMatchObject({
      code: "key-mismatch",
      message: expect.stringMatching(said),
    });
  });

  test("a new first key works beside the old one", async () => {
    const both = { keys: "k1=env:TEST_CODEC_A,k2=env:TEST_CODEC_B" };
    expect((await client({ encryption: both })).taskQueue).toBe(stage.taskQueue);
  });

  test("a reference that cannot be resolved", async () => {
    await expect(client({ encryption: { keys: "k1=env:NOT_SET" } })).rejects.toMatchObject({
      code: "configuration-invalid",
      message: expect.stringMatching(/NOT_SET is not set/),
    });
  });
});

thoroughTest(
  "a run that no worker can decrypt waits, and continues with a worker that has the key [TMP-09.3]",
  async () => {
    const { address, namespace, home } = stage;
    const taskQueue = `keyless-${randomUUID()}`;
    const options = { address, namespace, home, taskQueue, transcript: stage.transcript } as const;
    const session = stage.session({ replies: [{ text: "At last" }] });
    // No worker polls, so nothing is known of keys.
    const holdfast = await client({ taskQueue, encryption: KEYS });
    const started = await holdfast.start({ agent: session.definition, prompt: "Hi", session: session.id });
    const keyless = await createWorker({ ...options, secrets: () => "x".repeat(20) });
    const running = keyless.run();
    const said = await eventually(
      async () => {
        const found = await historyOf(session.id);
        return /Encrypted with key "k1".*which has none/.exec(found)?.[0];
      },
      { what: "the reason in the history" },
    );
    expect(said).toContain("k1");
    keyless.shutdown();
    await running;
    const worker = await createWorker({ ...options, encryption: KEYS, secrets: () => "x".repeat(20) });
    const working = worker.run();
    expect(await started.result()).toMatchObject({ text: "At last" });
    worker.shutdown();
    await working;
  },
);
