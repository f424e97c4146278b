import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readChangeFlags } from "../../src/apps/cli/git/change-flags.ts";
import { createReviewedRepository, type ReviewedRepository } from "../apps/git/reviewed-repository.ts";
import { runHoldfast } from "./terminal.ts";

let repository: ReviewedRepository;
let home: string;
beforeAll(() => {
  repository = createReviewedRepository();
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-git-home-")));
  const folder = join(repository.folder, ".holdfast", "capabilities");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "haiku.toml"),
    'name = "haiku"\ndescription = "A poem."\ntask_prompt = "Write a haiku."\n',
  );
});
afterAll(() => {
  repository.remove();
  rmSync(home, { recursive: true, force: true });
});

const run = (...args: readonly string[]) =>
  runHoldfast(["git", ...args, "--repo", repository.folder, "--home", home]);

describe("holdfast git capabilities", () => {
  const list = async (...flags: readonly string[]) => {
    const { out, code } = await run("capabilities", "--json", ...flags);
    const names = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).name as string);
    return { code, names };
  };

  test("lists those of the package; a repository's own only after somebody has trusted it, which is remembered", async () => {
    expect((await list()).names).not.toContain("haiku");
    expect((await list("--trust")).names).toContain("haiku");
    expect((await list()).names).toContain("haiku");
  });

  test("prints what the model will be told", async () => {
    const { out, code } = await run("capabilities", "--show", "review");
    expect(code).toBe(0);
    expect(out).toContain("Review the change that you are given");
    expect(out).toContain("=== CRITICAL: RESPONSE FORMAT ===");
    expect(out).toContain("Sub-agent parallel_analyze");
    const unknown = await run("capabilities", "--show", "poem");
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('no capability "poem"')]);
  });
});

describe("a wrong use is found before a server or a model is asked", () => {
  test.each([
    ["a folder that is no repository", ["review", "--repo", tmpdir()], "is not in a git repository"],
    ["nothing staged", ["review"], "Nothing is staged."],
    ["two changes", ["review", "--staged", "--commit", "HEAD"], "--staged and --commit"],
    ["an unknown format", ["review", "--format", "pdf"], "text, markdown, json, sarif"],
    ["an unknown severity", ["review", "--fail-on", "dire"], "critical, high, medium"],
    ["lines without numbers", ["blame", "one/file.ts"], "FILE:FROM-TO"],
    ["lines that do not exist", ["blame", join("one", "file.ts:99")], "has 2 lines at HEAD"],
  ])("%s", async (_, args, message) => {
    const { code, err } = await runHoldfast([
      "git",
      "--home",
      home,
      args[0]!,
      "--repo",
      repository.folder,
      ...args.slice(1),
    ]);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});

test.each([
  [{ base: "main" }, { type: "range", from: "main", to: "HEAD", fromMergeBase: true }],
  [{ range: "v1..v2" }, { type: "range", from: "v1", to: "v2" }],
  [{ range: "v1..." }, { type: "range", from: "v1", to: "HEAD", fromMergeBase: true }],
  [{ commit: "HEAD~2" }, { type: "commit", commit: "HEAD~2" }],
  [{ staged: true }, { type: "staged" }],
  [{}, undefined],
])("%j is a change", (flags, change) => {
  expect(readChangeFlags(flags)).toEqual(change);
});

test.each(["", "v1", "..v1", "v1."])("the range %j has no form", (range) => {
  expect(() => readChangeFlags({ range })).toThrow("must have the form A..B");
});
