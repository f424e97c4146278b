import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { eventually } from "../support/eventually.ts";
import { createPng } from "../support/media.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createJobName, createMembers, readConversation } from "../workflows/support/job-agents.ts";
import { listTexts } from "../workflows/support/list-texts.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import type { TestSession } from "../workflows/support/test-session.ts";

const MARKER = "MARKER-OF-AN-IMAGE ";
const PNG = createPng(MARKER.repeat(400));
const image = { type: "image" as const, bytes: PNG, name: "page.png" };
const DAY_MS = 24 * 60 * 60 * 1000;

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

/** Counts the images of each request of an agent, which must be the one that was sent. */
function countImages(agent: TestSession): readonly number[] {
  return agent
    .listRequests()
    .map(({ body }) => JSON.stringify(body).split(PNG.toString("base64")).length - 1);
}

test("every part of a fan-out receives the image of the task, and no history has its bytes", async () => {
  const { red, green } = createMembers(stage, {
    red: { replies: [{ text: "R" }] },
    green: { replies: [{ text: "G" }] },
  });
  const job = await holdfast.jobs.start({
    task: [{ type: "text", text: "Which colour?" }, image],
    mode: { type: "fan-out", agents: [red.definition, green.definition] },
  });
  expect(await job.result()).toMatchObject({ text: "1. red: R\n\n2. green: G" });
  expect([countImages(red), countImages(green)]).toEqual([[1], [1]]);
  expect(await readConversation(stage, `${job.id}.part-2`)).toEqual(["user: Which colour?", "assistant: G"]);
  for (const id of [job.id, `${job.id}.part-1`]) {
    const { events } = await stage.client.workflow.getHandle(id).fetchHistory();
    const texts = listTexts(events);
    expect(texts).toContain("parts");
    const history = texts.join("\n");
    expect(history).not.toContain(MARKER);
    expect(history).not.toContain(PNG.toString("base64").slice(100, 200));
  }
});

test("a schedule gives its file to what it starts, days after the file was stored", async () => {
  const { clerk } = createMembers(stage, { clerk: { replies: [{ text: "Seen." }] } });
  const name = createJobName(stage);
  onTestFinished(() => holdfast.schedules.delete(name).catch(() => undefined));
  const file = join(stage.home, "page.png");
  await writeFile(file, PNG);
  await holdfast.schedules.create({
    name,
    everyMs: DAY_MS,
    agent: clerk.definition,
    task: [
      { type: "text", text: "Look." },
      { type: "file", path: file },
    ],
  });
  await stage.transcript.archive.sweepTexts(Date.now() + 3 * DAY_MS, 1000);
  await holdfast.schedules.trigger(name);
  const id = await eventually(async () => {
    const found = (await holdfast.schedules.list()).find((one) => one.name === name);
    return found?.recent[0]?.id;
  });
  expect(await holdfast.session(id).result()).toMatchObject({ text: "Seen." });
  expect(countImages(clerk)).toEqual([1]);
});

thoroughTest(
  "the first stage of a pipeline receives the files of the task, with its own prompt",
  async () => {
    const { writer, editor } = createMembers(stage, {
      writer: { replies: [{ text: "A draft." }] },
      editor: { replies: [{ text: "Better." }] },
    });
    const job = await holdfast.jobs.start({
      task: [{ type: "text", text: "cats" }, image],
      mode: {
        type: "pipeline",
        stages: [
          { name: "draft", agent: writer.definition, prompt: "Describe {{input}}" },
          { name: "edit", agent: editor.definition, prompt: "{{task}}: {{input}}" },
        ],
      },
    });
    expect(await job.result()).toMatchObject({ text: "Better." });
    expect([countImages(writer), countImages(editor)]).toEqual([[1], [0]]);
    expect(await readConversation(stage, `${job.id}.draft`)).toContain("user: Describe cats");
    expect(await readConversation(stage, `${job.id}.edit`)).toContain("user: cats: A draft.");
  },
);

thoroughTest("an autonomous agent and a lead receive the files with their task", async () => {
  const finish = { toolCalls: [{ name: "finish_work", arguments: { summary: "done" } }] };
  const { lone, lead, helper } = createMembers(stage, {
    lone: { replies: [finish, { text: "." }] },
    lead: { replies: [{ text: "Led." }] },
    helper: { replies: [] },
  });
  const modes = [
    { type: "autonomous" as const, agent: lone.definition },
    {
      type: "supervisor" as const,
      lead: lead.definition,
      agents: [{ name: "helper", agent: helper.definition }],
    },
  ];
  for (const mode of modes) await (await holdfast.jobs.start({ task: [image], mode })).result();
  expect([countImages(lone)[0], countImages(lead)]).toEqual([1, [1]]);
});
