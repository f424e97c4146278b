import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createJobName, createMembers, readConversation, readHistoryText } from "./support/job-agents.ts";
import { connectClient } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

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

const schema = {
  type: "object",
  properties: { title: { type: "string" }, words: { type: "integer" } },
  required: ["title", "words"],
};

describe("a pipeline", () => {
  thoroughTest(
    "passes each agent's answer to the next, each in a session of its own [ORC-02.3, ORC-03.2]",
    async () => {
      const { writer, editor } = createMembers(stage, {
        writer: { replies: [{ text: "A draft about cats." }] },
        editor: { replies: [{ text: "A better text about cats." }] },
      });
      const job = await holdfast.jobs.start({
        job: createJobName(stage),
        task: "Write about cats.",
        mode: {
          type: "pipeline",
          stages: [
            { name: "draft", agent: writer.definition },
            { name: "edit", agent: editor.definition, prompt: "Asked: {{task}} Mend this: {{ input }}" },
          ],
        },
      });
      const result = await job.result();
      expect(result).toMatchObject({
        mode: "pipeline",
        outcome: { type: "answered" },
        text: "A better text about cats.",
        turns: 2,
        parts: [
          { name: "draft", agent: "writer", session: `${job.id}.draft`, outcome: { type: "answered" } },
          { name: "edit", agent: "editor", session: `${job.id}.edit`, outcome: { type: "answered" } },
        ],
      });
      expect(await readConversation(stage, `${job.id}.draft`)).toEqual([
        "user: Write about cats.",
        "assistant: A draft about cats.",
      ]);
      expect(await readConversation(stage, `${job.id}.edit`)).toEqual([
        "user: Asked: Write about cats. Mend this: A draft about cats.",
        "assistant: A better text about cats.",
      ]);
      expect(await stage.transcript.readText(result.ref ?? "")).toBe("A better text about cats.");
    },
  );

  thoroughTest("long texts are passed by reference: the history holds none of them", async () => {
    const words = "A very particular sentence. ".repeat(600);
    const { first, second } = createMembers(stage, {
      first: { replies: [{ text: words }] },
      second: { replies: [{ text: "Read." }] },
    });
    const job = await holdfast.jobs.start({
      task: "Go",
      mode: {
        type: "pipeline",
        stages: [
          { name: "one", agent: first.definition },
          { name: "two", agent: second.definition },
        ],
      },
    });
    await job.result();
    expect((await readConversation(stage, `${job.id}.two`))[0]).toBe(`user: ${words}`);
    expect(await readHistoryText(stage, job.id)).not.toContain("very particular");
  });

  test("a typed pipeline passes the structured output of one agent as the input of the next", async () => {
    const { first, second } = createMembers(stage, {
      first: {
        replies: [{ toolCalls: [{ name: "final_answer", arguments: { title: "Cats", words: 3 } }] }],
        output: { type: "json-schema", schema, strict: false },
      },
      second: { replies: [{ text: "Done." }] },
    });
    const job = await holdfast.jobs.start({
      task: "Go",
      mode: {
        type: "pipeline",
        stages: [
          { name: "one", agent: first.definition },
          { name: "two", agent: second.definition, input: schema },
        ],
      },
    });
    expect(await job.result()).toMatchObject({ outcome: { type: "answered" }, text: "Done." });
    expect((await readConversation(stage, `${job.id}.two`))[0]).toBe('user: {"title":"Cats","words":3}');
  });

  thoroughTest(
    "output that does not fit the next stage's input ends it there, with the mismatch",
    async () => {
      const { first, second } = createMembers(stage, {
        first: { replies: [{ text: 'Here it is: {"title": "Cats", "words": "three"}' }] },
        second: { replies: [{ text: "never" }] },
      });
      const job = await holdfast.jobs.start({
        task: "Go",
        mode: {
          type: "pipeline",
          stages: [
            { name: "one", agent: first.definition },
            { name: "two", agent: second.definition, input: schema },
          ],
        },
      });
      const result = await job.tryResult();
      expect(result).toMatchObject({ endedAt: "two", outcome: { type: "failed" } });
      expect(JSON.stringify(result.outcome)).toMatch(/Stage \\"two\\".*\\"one\\".*words.*whole number/);
      expect(second.listRequests()).toHaveLength(0);
    },
  );

  test("a failed stage ends it by name; when resumed, it continues there, and earlier stages are not paid again", async () => {
    const { first, second } = createMembers(stage, {
      first: { replies: [{ text: "Facts." }] },
      second: { replies: [{ text: "Story." }], faults: [{ fault: "auth" }] },
    });
    const job = await holdfast.jobs.start({
      task: "Go",
      mode: {
        type: "pipeline",
        stages: [
          { name: "find", agent: first.definition },
          { name: "tell", agent: second.definition },
        ],
      },
    });
    expect(await job.tryResult()).toMatchObject({ endedAt: "tell", outcome: { type: "failed" } });
    const again = await holdfast.jobs.resume(job.id);
    expect(await again.tryResult()).toMatchObject({ outcome: { type: "answered" }, text: "Story." });
    expect(first.listRequests()).toHaveLength(1);
    const tooLate = await holdfast.jobs.resume(job.id, { from: "nowhere" });
    expect(await tooLate.tryResult()).toMatchObject({
      outcome: { type: "failed", message: expect.stringContaining('no stage "nowhere"') },
    });
    const redone = await holdfast.jobs.resume(job.id, { from: "tell" });
    expect(await redone.tryResult()).toMatchObject({ outcome: { type: "answered" } });
    expect(first.listRequests()).toHaveLength(1);
  });

  thoroughTest("a stop reaches the active stage, and the next one does not begin", async () => {
    const { first, second } = createMembers(stage, {
      first: { replies: [{ text: "never", holdUntil: "slow-stage" }] },
      second: { replies: [{ text: "never" }] },
    });
    const job = await holdfast.jobs.start({
      task: "Go",
      mode: {
        type: "pipeline",
        stages: [
          { name: "one", agent: first.definition },
          { name: "two", agent: second.definition },
        ],
      },
    });
    await stage.model.waitForHold("slow-stage");
    expect(await job.status()).toMatchObject({
      status: "running",
      statusText: "running: one",
      job: { mode: "pipeline", parts: [{ status: "running" }, { status: "waiting" }] },
    });
    await expect(holdfast.jobs.resume(job.id)).rejects.toMatchObject({
      code: "session-busy",
      message: expect.stringContaining("still running"),
    });
    expect(await job.stop("enough")).toBe(true);
    expect(await job.result()).toMatchObject({
      outcome: { type: "stopped", reason: "enough" },
      endedAt: "one",
    });
    expect(await stage.transcript.readLoops(`${job.id}.one`)).toMatchObject([
      { outcome: { type: "stopped" } },
    ]);
    expect(second.listRequests()).toHaveLength(0);
  });

  thoroughTest("its limits hold over all stages [SUB-03.3]", async () => {
    const call = { toolCalls: [{ name: "list_files", arguments: {} }] };
    const { first, second } = createMembers(stage, {
      first: { replies: [call, call, { text: "Three turns." }], tools: ["list_files"] },
      second: { replies: [call, call, { text: "never" }], tools: ["list_files"] },
    });
    const job = await holdfast.jobs.start({
      task: "Go",
      mode: {
        type: "pipeline",
        limits: { maxTurns: 4 },
        stages: [
          { name: "one", agent: first.definition },
          { name: "two", agent: second.definition },
        ],
      },
    });
    expect(await job.result()).toMatchObject({
      endedAt: "two",
      outcome: { type: "limit-reached", reason: expect.stringContaining("Budget of turns reached") },
      turns: 4,
    });
  });

  test("a job's id is used once, and an invalid mode is reported before anything is started", async () => {
    const { definition } = createMembers(stage, { one: { replies: [{ text: "ok" }] } }).one;
    const mode = { type: "pipeline" as const, stages: [{ name: "one", agent: definition }] };
    const job = await holdfast.jobs.start({ task: "Go", mode });
    await job.result();
    await expect(holdfast.jobs.start({ job: job.id, task: "Go", mode })).rejects.toMatchObject({
      code: "session-busy",
    });
    const wrong = { ...mode, stages: [{ name: "a b", agent: definition, promt: "x" }] };
    await expect(holdfast.jobs.start({ task: "Go", mode: wrong as never })).rejects.toMatchObject({
      code: "definition-invalid",
      message: expect.stringMatching(/stages\.0\.name[\s\S]*did you mean "prompt"/),
    });
    await expect(holdfast.jobs.start({ mode })).rejects.toMatchObject({ code: "input-invalid" });
  });
});
