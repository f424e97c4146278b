import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WorkMode, type WorkModeInput } from "../../src/schema/mode.ts";
import { writeMode } from "../config/write-mode.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createJobName, createMembers } from "./support/job-agents.ts";
import { runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

/** A file with the mode in it. */
async function fileOf(mode: WorkModeInput): Promise<string> {
  const file = join(stage.home, `${createJobName(stage)}.toml`);
  await writeFile(file, writeMode(WorkMode.parse(mode), "toml"));
  return file;
}

const lines = (out: string) =>
  out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("an unknown job is called a job, not a session, by every command", async () => {
  for (const args of [
    ["job", "status", "nope"],
    ["job", "result", "nope"],
    ["job", "stop", "nope"],
    ["job", "wake", "nope"],
    ["job", "resume", "nope"],
  ]) {
    const { code, err } = await runCommandLine(stage, ...args);
    expect(code).not.toBe(0);
    expect(err).toMatch(/There is no job nope in namespace/);
    expect(err).not.toMatch(/session/);
  }
});

test("a file with a [mode] runs in that mode; the result is on standard output [ORC-02.3, ORC-03.2]", async () => {
  const { writer, editor } = createMembers(stage, {
    writer: { replies: [{ text: "Draft." }] },
    editor: { replies: [{ text: "Better." }] },
  });
  const file = await fileOf({
    type: "pipeline",
    stages: [
      { name: "draft", agent: writer.definition },
      { name: "edit", agent: editor.definition },
    ],
  });
  const job = createJobName(stage);
  const { code, out, err } = await runCommandLine(stage, "run", "Go", "--agent", file, "--session", job);
  expect({ code, out }).toEqual({ code: 0, out: "Better.\n" });
  expect(err).toMatch(/answered · 2 turns · \$0\.00 · [\d.]+ s · job /);
  const status = await runCommandLine(stage, "job", "status", job);
  expect(status.code).toBe(0);
  expect(status.out).toMatch(/status +completed/);
  expect(status.out).toMatch(/edit +editor +answered +1 .*\.edit/);
  const result = await runCommandLine(stage, "job", "result", job, "--json");
  expect(lines(result.out).at(-1)).toMatchObject({
    type: "result",
    text: "Better.",
    turns: 2,
    durationMs: expect.any(Number),
    exitCode: 0,
  });
});

test("a stage that fails gives exit code 1, and the job is resumed from there", async () => {
  const { first, second } = createMembers(stage, {
    first: { replies: [{ text: "Facts." }] },
    second: { replies: [{ text: "Story." }], faults: [{ fault: "auth" }] },
  });
  const file = await fileOf({
    type: "pipeline",
    stages: [
      { name: "find", agent: first.definition },
      { name: "tell", agent: second.definition },
    ],
  });
  const job = createJobName(stage);
  const failed = await runCommandLine(stage, "run", "Go", "--agent", file, "--session", job);
  expect(failed.code).toBe(1);
  expect(failed.err).toContain('Stage "tell"');
  const told = await runCommandLine(stage, "job", "result", job, "--json");
  expect({ code: told.code, ...JSON.parse(told.out) }).toMatchObject({
    code: 1,
    outcome: { type: "failed" },
  });
  const again = await runCommandLine(stage, "job", "resume", job);
  expect({ code: again.code, out: again.out }).toEqual({ code: 0, out: "Story.\n" });
  expect(first.listRequests()).toHaveLength(1);
});

thoroughTest("a detached job is inspected, woken and stopped", async () => {
  const nap = { toolCalls: [{ name: "sleep", arguments: { seconds: 86_400, reason: "the night" } }] };
  const { lone } = createMembers(stage, { lone: { replies: [nap, { text: "1" }, nap, { text: "2" }] } });
  const file = await fileOf({ type: "autonomous", agent: lone.definition });
  const begun = await runCommandLine(stage, "run", "Wait", "--agent", file, "--detach");
  const job = begun.out.trim();
  const rounds = (count: number) =>
    eventually(async () => {
      const { out } = await runCommandLine(stage, "job", "status", job, "--json");
      const [now] = lines(out) as [{ status: string; job?: { rounds: number } }];
      return now.status === "waiting" && now.job?.rounds === count;
    });
  await rounds(1);
  const shown = await runCommandLine(stage, "job", "status", job);
  expect(shown.out).toMatch(/activity +sleeping until .*: the night/);
  expect(shown.out).toMatch(/work +lone +completed +2 .*\.work/);
  expect(await runCommandLine(stage, "job", "wake", job, "Up.")).toMatchObject({ code: 0 });
  await rounds(2);
  expect(await runCommandLine(stage, "job", "stop", job, "enough")).toMatchObject({ code: 0 });
  const over = await runCommandLine(stage, "job", "result", job, "--json");
  expect(over.code).toBe(4);
  expect(lines(over.out).at(-1)).toMatchObject({ outcome: { type: "stopped", reason: "enough" } });
});

test("flags that change one agent are rejected for a file of several", async () => {
  const { one } = createMembers(stage, { one: { replies: [] } });
  const file = await fileOf({ type: "autonomous", agent: one.definition });
  const { code, err } = await runCommandLine(stage, "run", "Go", "--agent", file, "--max-turns", "3");
  expect(code).toBe(2);
  expect(err).toContain("--max-turns changes a single agent");
});
