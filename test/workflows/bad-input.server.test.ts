import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { resolveBuiltFile } from "../../src/testing/built-file.ts";
import { createWorker } from "../../src/worker.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

/** Whatever a run has received, the worker serves the next one. */
afterEach(async () => {
  const session = stage.session({ replies: [{ text: "Alive." }] });
  expect(await session.run("Go")).toMatchObject({ text: "Alive." });
});

async function expectRefused(session: ReturnType<TestEnvironment["session"]>, fault: string, words: RegExp) {
  await session.start("Go");
  const { readResult, message } = await session.readFailure();
  expect(readResult?.outcome).toMatchObject({ type: "failed", fault });
  expect(message).toMatch(words);
  expect(session.listRequests()).toEqual([]);
  expect(await stage.transcript.readLoops(session.id)).toEqual([]);
  expect(await session.readEntries()).toEqual([]);
}

test("a missing key is named, with where to set it, before anything is written", () =>
  expectRefused(
    stage.session({ agent: { model: { apiKey: "\u0024{NO_SUCH_KEY}" } } }),
    "auth",
    /NO_SUCH_KEY is not set in the environment of the worker/,
  ));

test("a workspace that does not exist is named, before anything is written", () =>
  expectRefused(
    stage.session({ agent: { workspace: "/no/such/folder" } }),
    "invalid",
    /\/no\/such\/folder.*ENOENT/,
  ));

test("an unknown tool under strict is an error with the nearest name", () =>
  expectRefused(
    stage.session({ agent: { tools: ["bsh"], strict: true } }),
    "invalid",
    /"bsh": did you mean "bash"/,
  ));

thoroughTest("an unknown tool without strict is left out, and the run continues", async () => {
  const session = stage.session({ replies: [{ text: "Fine." }], agent: { tools: ["bsh", "bash"] } });
  expect(await session.run("Go")).toMatchObject({ text: "Fine." });
  const tools = session.listRequests()[0]?.body?.["tools"] as { name: string }[];
  expect(tools.map(({ name }) => name)).toEqual(["bash"]);
});

thoroughTest("an invalid definition is rejected with the field's name", async () => {
  const session = stage.session();
  await stage.client.workflow.start("agent", {
    ...session.createStartRequest(),
    args: [{ prompt: "Go", definition: { ...session.definition, temperature: 9 } as never }],
  });
  const { message } = await session.readFailure();
  expect(message).toMatch(/temperature/);
});

thoroughTest.each([[" \n\t"], [""], [{ text: " " }]])(
  "an empty prompt (%j) fails the run, and no model is called",
  async (prompt) => {
    const session = stage.session();
    await stage.client.workflow.start("agent", {
      ...session.createStartRequest(),
      args: [{ prompt, definition: session.definition } as never],
    });
    const { message, readResult } = await session.readFailure();
    expect(message).toMatch(/The prompt has no text. Start the session again with a text/);
    expect(readResult?.outcome).toMatchObject({ type: "failed", fault: "invalid" });
    expect(session.listRequests()).toEqual([]);
  },
);

thoroughTest("a prompt that is no text fails the run before it begins", async () => {
  const session = stage.session();
  await stage.client.workflow.start("agent", {
    ...session.createStartRequest(),
    args: [{ prompt: 5, definition: session.definition } as never],
  });
  const { message } = await session.readFailure();
  expect(message).toContain("prompt: must be a text, or an object with `text` or `ref`");
  expect(session.listRequests()).toEqual([]);
});

thoroughTest("an empty steering signal is ignored", async () => {
  const session = stage.session({ replies: [{ text: "Fine." }] });
  const handle = await session.start("Go");
  await handle.signal("steer", "  ");
  await session.readResult();
  expect(await session.readConversation()).toEqual(["user: Go", "assistant: Fine."]);
});

thoroughTest("an unknown definition hash is rejected", async () => {
  const session = stage.session();
  await session.start("Go", { definitionHash: "0".repeat(64) });
  expect((await session.readFailure()).message).toMatch(/No definition is stored/);
});

thoroughTest("an unknown model fails the run with the vendor's message", async () => {
  const body = '{"type":"error","error":{"type":"not_found_error","message":"model: test-model"}}';
  const session = stage.session({ faults: [{ fault: "http", status: 404, body }] });
  await session.start("Go");
  const { message } = await session.readFailure();
  expect(message).toContain("model: test-model");
  expect(message).toContain("404");
});

test("arguments that do not fit, an unknown tool, and arguments that are not JSON are reported to the model (TOOL-04, TOOL-06)", async () => {
  const session = stage.session({
    replies: [
      {
        toolCalls: [
          { name: "bash", arguments: { cmd: 1 } },
          { name: "nope", arguments: {} },
          { name: "bash", arguments: '{"command": "ec' },
          { name: "bash", arguments: { command: "echo good" } },
        ],
      },
      { text: "I see." },
    ],
    agent: { tools: ["bash"] },
  });
  expect(await session.run("Go")).toMatchObject({ text: "I see." });
  const [a, b, c, d] = (await session.readConversation()).slice(2, 6);
  expect(a).toMatch(/^toolResult: Invalid arguments: command/);
  expect(b).toBe("toolResult: Tool nope not found");
  expect(c).toMatch(/^toolResult: Invalid arguments: /);
  expect(d).toContain("good");
  expect(session.listRequests()[1]?.validationError).toBeUndefined();
});

thoroughTest("invalid UTF-8 from a tool becomes text that the model can read", async () => {
  const session = stage.session({
    replies: [
      { toolCalls: [{ name: "bash", arguments: { command: "printf 'a\\xff\\xc3b'" } }] },
      { text: "Odd." },
    ],
    agent: { tools: ["bash"] },
  });
  expect(await session.run("Go")).toMatchObject({ text: "Odd." });
  expect((await session.readConversation())[2]).toContain("a\uFFFD\uFFFDb");
});

thoroughTest("lone surrogates in a prompt become text that every reader can decode", async () => {
  const session = stage.session({ replies: [{ text: "Odd." }] });
  expect(await session.run("half \ud83d of an emoji")).toMatchObject({ text: "Odd." });
  expect(session.listRequests()[0]?.validationError).toBeUndefined();
});

thoroughTest("a worker for a namespace that does not exist reports it and ends", async () => {
  const attempt = createWorker({
    address: stage.address,
    namespace: "no-such-namespace",
    home: join(stage.home, "other"),
    temporal: {
      workflowsPath: undefined,
      workflowBundle: { codePath: resolveBuiltFile("workflow-bundle.js") },
    } as never,
  }).then((worker) => worker.run());
  await expect(attempt).rejects.toThrow(/no-such-namespace/);
  expect(existsSync(join(stage.home, "other", "transcript.db-wal"))).toBe(false);
});

thoroughTest("a worker without a server reports the address that it tried and how to start one", () =>
  expect(createWorker({ address: "127.0.0.1:1" })).rejects.toThrow(
    /^No Temporal server can be reached at 127\.0\.0\.1:1: .*refused.* Start one with `holdfast dev`/,
  ),
);
