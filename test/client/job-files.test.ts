import { describe, expect, test } from "vitest";
import type { ClientLink } from "../../src/client/connection/client-link.ts";
import { buildJobRequest, type JobWorkMode } from "../../src/client/runs/build-job-request.ts";
import { keepJobTexts } from "../../src/client/runs/keep-texts.ts";
import { buildScheduleAction } from "../../src/client/runs/schedule-action.ts";
import { parseMode } from "../../src/client/runs/start-job.ts";
import { anthropic } from "../../src/config/vendor-models.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import type { FanOutRequest } from "../../src/workflows/job-input.ts";
import { createPng } from "../support/media.ts";
import { SqliteFixture } from "../transcript/sqlite-fixture.ts";

const PNG = createPng("image ".repeat(700));
const LATER_MS = Date.now() + 3 * 24 * 60 * 60 * 1000;
const claude = anthropic("claude-sonnet-4-5");
const seeing = { name: "seeing", model: claude };
const blind = { name: "blind", model: { ...claude, input: [] } };
const task = [
  { type: "text" as const, text: "cats" },
  { type: "image" as const, bytes: PNG },
];

const bench = SqliteFixture.forEachTest();
async function open(): Promise<{ transcript: Transcript; link: ClientLink }> {
  const transcript = await bench.open();
  const storage = { openTranscript: async () => transcript };
  return { transcript, link: { storage, settings: {} } as unknown as ClientLink };
}

const fanOut = (tasks?: string[]) =>
  parseMode({ type: "fan-out", agents: [seeing, seeing], ...(tasks === undefined ? {} : { tasks }) });
const build = async (link: ClientLink, mode: ReturnType<typeof parseMode>) =>
  await buildJobRequest(link, mode as JobWorkMode, task);

describe("the request of a job", () => {
  test("gives the parts of a fan-out one stored message", async () => {
    const { link, transcript } = await open();
    const { parts, task: whole } = (await build(link, fanOut())) as FanOutRequest;
    const { ref } = whole as { ref: string };
    expect(parts.map((part) => part.task)).toEqual(
      [0, 1].map(() => ({ ref, parts: true, tokens: expect.any(Number) })),
    );
    expect(await transcript.readParts(ref)).toMatchObject([{ text: "cats" }, { type: "image" }]);
  });

  test("adds the files to each task of a fan-out, and stores their bytes once", async () => {
    const { link, transcript } = await open();
    const { parts } = (await build(link, fanOut(["Feed {{task}}", "Wash"]))) as FanOutRequest;
    const refs = [...new Set(parts.map((part) => (part.task as { ref: string }).ref))];
    const [first, second] = await Promise.all(refs.map((ref) => transcript.readParts(ref)));
    expect(refs).toHaveLength(2);
    expect([first?.[0], second?.[0]]).toEqual([
      { type: "text", text: "Feed cats" },
      { type: "text", text: "Wash" },
    ]);
    expect(first?.[1]).toEqual(second?.[1]);
    expect(first?.[1]).toMatchObject({ data: expect.stringMatching(/^stored:/) });
  });

  test("keeps texts and files with the job's sessions, beyond their lease", async () => {
    const { link, transcript } = await open();
    const request = (await build(link, fanOut())) as FanOutRequest;
    const { ref } = request.task as { ref: string };
    await keepJobTexts(link, "job", request);
    await transcript.archive.sweepTexts(LATER_MS, 9);
    expect(await transcript.readParts(ref)).toHaveLength(2);
  });

  test.each([
    ["a part of a fan-out", { type: "fan-out", agents: [seeing, blind] }],
    ["the first stage of a pipeline", { type: "pipeline", stages: [{ name: "a", agent: blind }] }],
    ["an autonomous agent", { type: "autonomous", agent: blind }],
    ["a lead", { type: "supervisor", lead: blind, agents: [{ name: "b", agent: seeing }] }],
  ] as const)("is refused if the files reach a model that cannot read them: %s", async (_, mode) => {
    const { link, transcript } = await open();
    await expect(build(link, parseMode(mode as never))).rejects.toMatchObject({ code: "input-unsupported" });
    expect(await transcript.archive.sweepTexts(LATER_MS, 9)).toBe(0);
  });

  test("is accepted if only agents that get no files cannot read them", async () => {
    const { link } = await open();
    const stages = [
      { name: "a", agent: seeing },
      { name: "b", agent: blind },
    ];
    const request = await build(link, parseMode({ type: "pipeline", stages }));
    expect(request.task).toMatchObject({ parts: true });
  });
});

describe("what a schedule starts", () => {
  const create = (link: ClientLink, agent: typeof seeing, given: typeof task | string) =>
    buildScheduleAction(link, { name: "s", everyMs: 9000, agent, task: given });

  test("refers to the files of its task, and lists them for the schedule to retain", async () => {
    const { link, transcript } = await open();
    const { request, tasks, summary } = await create(link, seeing, task);
    const prompt = { ref: expect.any(String), parts: true, tokens: expect.any(Number) };
    expect(request).toMatchObject({ prompt });
    expect(tasks).toEqual([prompt]);
    expect(summary).toBe("cats");
    expect(await transcript.readParts((tasks[0] as { ref: string }).ref)).toHaveLength(2);
  });

  test("is refused where the model cannot read the files, and for a task that is no prompt", async () => {
    const { link } = await open();
    await expect(create(link, blind, task)).rejects.toMatchObject({ code: "input-unsupported" });
    await expect(create(link, seeing, 5 as never)).rejects.toMatchObject({ code: "input-invalid" });
    await expect(create(link, seeing, " ")).rejects.toMatchObject({ code: "input-invalid" });
  });
});
