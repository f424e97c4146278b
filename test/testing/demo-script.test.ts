import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Reply } from "../../src/testing/model-server/reply.ts";
import { ModelScript } from "../../src/testing/model-server/script.ts";
import { thoroughTest } from "../support/test-depth.ts";

const DEMO = new URL("../../demo/", import.meta.url).pathname;
let workspace: string;
let replies: Reply[];

beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), "holdfast-demo-project-"));
  await cp(join(DEMO, "project"), workspace, { recursive: true });
  const script = ModelScript.parse(JSON.parse(await readFile(join(DEMO, "script.json"), "utf8")));
  replies = script.conversations![0]!.replies as Reply[];
});

afterAll(() => rm(workspace, { recursive: true, force: true }));

/** The totals of the project's own test run. */
function runTests(): Promise<{ code: number; pass: number; fail: number }> {
  return new Promise((resolve) => {
    execFile("npm", ["test"], { cwd: workspace }, (error, stdout) => {
      const count = (word: string) => Number(stdout.match(new RegExp(`^ℹ ${word} (\\d+)`, "m"))?.[1]);
      resolve({ code: error === null ? 0 : Number(error.code), pass: count("pass"), fail: count("fail") });
    });
  });
}

type Edit = { path: string; old_text: string; new_text: string };

thoroughTest("the scripted edits fit the project and repair it", async () => {
  expect(await runTests()).toEqual({ code: 1, pass: 8, fail: 2 });
  const edits = replies
    .flatMap((reply) => reply.toolCalls ?? [])
    .filter((call) => call.name === "edit_file")
    .map((call) => call.arguments as Edit);
  expect(edits.map((edit) => edit.path)).toEqual(["src/prices.js", "CHANGELOG.md"]);
  for (const edit of edits) {
    const file = join(workspace, edit.path);
    const before = await readFile(file, "utf8");
    expect(before.split(edit.old_text)).toHaveLength(2);
    await writeFile(
      file,
      before.replace(edit.old_text, () => edit.new_text),
    );
  }
  expect(await runTests()).toEqual({ code: 0, pass: 10, fail: 0 });
});

test("the files that the script reads exist, and the script has the turns that the demo needs", async () => {
  const calls = replies.map((reply) => (reply.toolCalls ?? []).map((call) => call.name));
  expect(calls).toEqual([
    ["list_files"],
    ["read_file", "read_file", "search"],
    ["bash"],
    ["edit_file"],
    ["bash"],
    ["read_file"],
    ["edit_file"],
    ["bash"],
    [],
  ]);
  for (const { path } of replies[1]!
    .toolCalls!.slice(0, 2)
    .map((call) => call.arguments as { path: string })) {
    await expect(readFile(join(workspace, path), "utf8")).resolves.toBeTruthy();
  }
});

test("the stream that is killed lasts about three seconds", () => {
  const { text, toolCalls, chunkSize, chunkDelayMs } = replies[3]!;
  const characters = text!.length + JSON.stringify(toolCalls![0]!.arguments).length;
  const seconds = ((characters / chunkSize!) * chunkDelayMs!) / 1000;
  expect(seconds).toBeGreaterThan(2.5);
  expect(seconds).toBeLessThan(5);
});
