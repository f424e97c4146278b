import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeMode } from "../../src/config/agent-file/write-mode.ts";
import { WorkMode, type WorkModeInput } from "../../src/schema/mode.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { thorough } from "../support/depth.ts";
import { commandLine } from "./support/connected.ts";
import { cast, jobName } from "./support/jobs.ts";
import { openStage, type Stage } from "./support/temporal.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

/** A file with the mode in it. */
async function fileOf(mode: WorkModeInput): Promise<string> {
  const file = join(stage.home, `${jobName(stage)}.toml`);
  await writeFile(file, writeMode(WorkMode.parse(mode), "toml"));
  return file;
}

const lines = (out: string) =>
  out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("a job that is not there is called a job, not a session, whatever is asked of it", async () => {
  for (const args of [
    ["job", "status", "nope"],
    ["job", "result", "nope"],
    ["job", "stop", "nope"],
    ["job", "wake", "nope"],
    ["job", "resume", "nope"],
  ]) {
    const { code, err } = await commandLine(stage, ...args);
    expect(code).not.toBe(0);
    expect(err).toMatch(/There is no job nope in namespace/);
    expect(err).not.toMatch(/session/);
  }
});

test("a file with a [mode] is run as it says; the result is on standard output [ORC-02, ORC-03]", async () => {
  const { writer, editor } = cast(stage, {
    writer: { says: [{ text: "Draft." }] },
    editor: { says: [{ text: "Better." }] },
  });
  const file = await fileOf({
    type: "pipeline",
    stages: [
      { name: "draft", agent: writer.definition },
      { name: "edit", agent: editor.definition },
    ],
  });
  const job = jobName(stage);
  const { code, out, err } = await commandLine(stage, "run", "Go", "--agent", file, "--session", job);
  expect({ code, out }).toEqual({ code: 0, out: "Better.\n" });
  expect(err).toContain(`answered · 2 turns · $0.00 · job ${job}`);
  const status = await commandLine(stage, "job", "status", job);
  expect(status.code).toBe(0);
  expect(status.out).toMatch(/status +completed/);
  expect(status.out).toMatch(/edit +editor +answered +1 .*\.edit/);
  const result = await commandLine(stage, "job", "result", job, "--json");
  expect(lines(result.out).at(-1)).toMatchObject({ type: "result", text: "Better.", exitCode: 0 });
});

test("a stage that fails gives exit code 1, and the job is resumed from there", async () => {
  const { first, second } = cast(stage, {
    first: { says: [{ text: "Facts." }] },
    second: { says: [{ text: "Story." }], faults: [{ fault: "auth" }] },
  });
  const file = await fileOf({
    type: "pipeline",
    stages: [
      { name: "find", agent: first.definition },
      { name: "tell", agent: second.definition },
    ],
  });
  const job = jobName(stage);
  const failed = await commandLine(stage, "run", "Go", "--agent", file, "--session", job);
  expect(failed.code).toBe(1);
  expect(failed.err).toContain('Stage "tell"');
  const again = await commandLine(stage, "job", "resume", job);
  expect({ code: again.code, out: again.out }).toEqual({ code: 0, out: "Story.\n" });
  expect(first.requests()).toHaveLength(1);
});

thorough("a job that was left is looked at, woken and stopped", async () => {
  const nap = { toolCalls: [{ name: "sleep", arguments: { seconds: 86_400, reason: "the night" } }] };
  const { lone } = cast(stage, { lone: { says: [nap, { text: "1" }, nap, { text: "2" }] } });
  const file = await fileOf({ type: "autonomous", agent: lone.definition });
  const begun = await commandLine(stage, "run", "Wait", "--agent", file, "--detach");
  const job = begun.out.trim();
  const rounds = (count: number) =>
    eventually(async () => {
      const { out } = await commandLine(stage, "job", "status", job, "--json");
      const [now] = lines(out) as [{ status: string; job?: { rounds: number } }];
      return now.status === "waiting" && now.job?.rounds === count;
    });
  await rounds(1);
  const shown = await commandLine(stage, "job", "status", job);
  expect(shown.out).toMatch(/doing +sleeping until .*: the night/);
  expect(shown.out).toMatch(/work +lone +completed +2 .*\.work/);
  expect(await commandLine(stage, "job", "wake", job, "Up.")).toMatchObject({ code: 0 });
  await rounds(2);
  expect(await commandLine(stage, "job", "stop", job, "enough")).toMatchObject({ code: 0 });
  const over = await commandLine(stage, "job", "result", job, "--json");
  expect(over.code).toBe(4);
  expect(lines(over.out).at(-1)).toMatchObject({ outcome: { type: "stopped", reason: "enough" } });
});

test("flags that change one agent are refused for a file of several", async () => {
  const { one } = cast(stage, { one: { says: [] } });
  const file = await fileOf({ type: "autonomous", agent: one.definition });
  const { code, err } = await commandLine(stage, "run", "Go", "--agent", file, "--max-turns", "3");
  expect(code).toBe(2);
  expect(err).toContain("--max-turns changes one agent");
});
