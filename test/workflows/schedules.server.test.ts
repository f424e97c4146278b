import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createJobName, createMembers, readConversation } from "./support/job-agents.ts";
import { connectClient, runCommandLine } from "./support/test-client.ts";
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

/** A schedule that is removed when the test ends. */
function scheduleName(): string {
  const name = createJobName(stage);
  onTestFinished(async () => {
    await holdfast.schedules.delete(name).catch(() => undefined);
  });
  return name;
}

/** What a schedule has started, once it has started this many. */
function started(name: string, count: number): Promise<readonly string[]> {
  return eventually(async () => {
    const found = (await holdfast.schedules.list()).find((one) => one.name === name);
    return found !== undefined && found.recent.length >= count ? found.recent.map(({ id }) => id) : undefined;
  });
}

test("a schedule starts runs, each in a session of its own", async () => {
  const { clerk } = createMembers(stage, { clerk: { replies: [{ text: "Counted." }] } });
  const name = scheduleName();
  await holdfast.schedules.create({
    name,
    everyMs: 86_400_000,
    overlap: "allow-all",
    agent: clerk.definition,
    task: "Count.",
  });
  await holdfast.schedules.trigger(name);
  const [first = ""] = await started(name, 1);
  expect(first).toMatch(new RegExp(`^${name}-\\d{4}-`));
  expect(await holdfast.session(first).result()).toMatchObject({ session: first, text: "Counted." });
  expect(await readConversation(stage, first)).toEqual(["user: Count.", "assistant: Counted."]);
  expect(await holdfast.session(first).status()).toMatchObject({ status: "completed", agent: "clerk" });
  // The time stamp in an id counts seconds.
  await eventually(() => new Date().toISOString().slice(0, 19) > first.slice(name.length + 1, -1));
  await holdfast.schedules.trigger(name);
  const [, second = ""] = await started(name, 2);
  expect(second).not.toBe(first);
  expect(await holdfast.session(second).result()).toMatchObject({ session: second, text: "Counted." });
});

thoroughTest("a schedule starts a mode, whose sessions are below the started job", async () => {
  const { a, b } = createMembers(stage, { a: { replies: [{ text: "A" }] }, b: { replies: [{ text: "B" }] } });
  const name = scheduleName();
  const mode = { type: "fan-out" as const, agents: [a.definition, b.definition] };
  await holdfast.schedules.create({ name, cron: "0 2 * * *", timeZone: "Europe/Berlin", mode, task: "Go" });
  await holdfast.schedules.trigger(name);
  const [id = ""] = await started(name, 1);
  expect(await holdfast.jobs.get(id).result()).toMatchObject({
    job: id,
    text: "1. a: A\n\n2. b: B",
    parts: [{ session: `${id}.part-1` }, { session: `${id}.part-2` }],
  });
});

thoroughTest("a schedule wakes a sleeping autonomous agent [ORC-02.2]", async () => {
  const { lone } = createMembers(stage, {
    lone: {
      replies: [
        { toolCalls: [{ name: "sleep", arguments: { seconds: 86_400, reason: "the night" } }] },
        { text: "Zzz" },
        { toolCalls: [{ name: "finish_work", arguments: { summary: "awake" } }] },
        { text: "." },
      ],
    },
  });
  const job = await holdfast.jobs.start({
    task: "Wait",
    mode: { type: "autonomous", agent: lone.definition },
  });
  await eventually(async () => (await job.status()).status === "waiting");
  const name = scheduleName();
  await holdfast.schedules.create({ name, everyMs: 86_400_000, wake: job.id, text: "Good morning." });
  await holdfast.schedules.trigger(name);
  expect(await job.result()).toMatchObject({ text: "awake" });
  expect(await readConversation(stage, `${job.id}.work`)).toContain("user: Good morning.");
});

test("schedules are paused, listed and deleted from the command line, and errors state what to do", async () => {
  const { clerk } = createMembers(stage, { clerk: { replies: [] } });
  const name = scheduleName();
  await holdfast.schedules.create({ name, everyMs: 3_600_000, agent: clerk.definition, task: "Count." });
  expect(await runCommandLine(stage, "schedule", "pause", name)).toMatchObject({ code: 0 });
  const shown = await eventually(async () => {
    const { out } = await runCommandLine(stage, "schedule", "list", "--json");
    const rows = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { name: string; paused: boolean });
    return rows.find((one) => one.name === name && one.paused);
  });
  expect(shown).toMatchObject({ starts: "agent" });
  expect(await runCommandLine(stage, "schedule", "unpause", name)).toMatchObject({ code: 0 });
  expect(await runCommandLine(stage, "schedule", "delete", name)).toMatchObject({ code: 0 });
  const gone = await runCommandLine(stage, "schedule", "pause", name);
  expect(gone.code).toBe(2);
  expect(gone.err).toContain("holdfast schedule list");
  const both = { name, cron: "0 0 * * *", everyMs: 1000, agent: clerk.definition, task: "x" };
  await expect(holdfast.schedules.create(both)).rejects.toMatchObject({ code: "input-invalid" });
});
