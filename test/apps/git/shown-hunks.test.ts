import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { toVisibleText } from "../../../src/apps/git/text/visible-text.ts";
import { createGitDiffTool } from "../../../src/apps/git/tools/git-diff-tool.ts";
import { createGitShowTool } from "../../../src/apps/git/tools/git-show-tool.ts";
import { thoroughTest } from "../../support/test-depth.ts";
import { callTool, createContext, createTemporaryFolder } from "../../tools/tool-context.ts";

// What a tool claims to have shown is what the coverage ledger counts as read. It is compared with git's own hunks.

type Plan = { readonly files: number; readonly pathChars: number; readonly line: (nth: number) => string };

const git = (folder: string, ...args: readonly string[]) =>
  execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", maxBuffer: 1024 ** 3 });

/** A repository whose last commit changes each file in three places. */
async function createRepository({ files, pathChars, line }: Plan): Promise<string> {
  const folder = await createTemporaryFolder();
  git(folder, "init", "--quiet");
  const paths = Array.from({ length: files }, (_, at) =>
    join("src", "d".repeat(Math.min(pathChars, 200)), `file-${at}.ts`),
  );
  const commit = async (mark: string) => {
    for (const path of paths) {
      const lines = Array.from({ length: 60 }, (_, nth) =>
        nth % 20 === 10 ? `${mark} ${line(nth)}` : `same ${nth}`,
      );
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), `${lines.join("\n")}\n`);
    }
    git(folder, "add", "--all");
    git(
      folder,
      "-c",
      "user.name=A",
      "-c",
      "user.email=a@example.com",
      "commit",
      "--quiet",
      "--message",
      mark,
    );
  };
  await commit("before");
  await commit("after");
  return folder;
}

/** Git's own hunks, by the ids of the tools: the path, and the number of the hunk in it. */
function listHunks(folder: string): ReadonlyMap<string, string> {
  const hunks = new Map<string, string>();
  for (const file of git(folder, "diff", "HEAD~1", "HEAD")
    .split(/^diff --git /m)
    .slice(1)) {
    const [, path] = /^\+\+\+ b\/(.*?)\t?$/m.exec(file) ?? [];
    const texts = file.split(/^(?=@@ )/m).slice(1);
    for (const [at, text] of texts.entries()) hunks.set(`${path}:${at + 1}`, toVisibleText(text.trimEnd()));
  }
  return hunks;
}

const PLANS: readonly (readonly [string, Plan])[] = [
  ["many files with long paths", { files: 350, pathChars: 180, line: (nth) => `line ${nth}` }],
  [
    "characters that are shown as escapes",
    { files: 120, pathChars: 10, line: () => "\u202e\x1b".repeat(40) },
  ],
  ["lines of a few thousand characters", { files: 30, pathChars: 10, line: () => "x".repeat(3_000) }],
  ["a hunk that no answer has room for", { files: 2, pathChars: 10, line: () => "\u202e".repeat(9_000) }],
];
const TOOLS = [
  ["git_diff", createGitDiffTool(), { from: "HEAD~1", to: "HEAD", detail: "standard" }],
  ["git_show", createGitShowTool(), { commit: "HEAD" }],
] as const;

describe.each(TOOLS)("%s shows whole what it claims to have shown, with", (_, tool, parameters) => {
  async function expectWholeHunks(...[, plan]: (typeof PLANS)[number]): Promise<void> {
    const folder = await createRepository(plan);
    const all = listHunks(folder);
    const { content, details } = await callTool(tool, parameters, createContext(folder));
    const [part] = content;
    const text = part?.type === "text" ? part.text : "";
    const { hunks } = details as { hunks: { shown: readonly string[]; left: readonly string[] } };
    expect(text.length).toBeLessThanOrEqual(60_000);
    expect(text).not.toContain("more characters are not shown");
    for (const id of hunks.shown) expect(text, id).toContain(all.get(id));
    expect([...hunks.shown, ...hunks.left].sort()).toEqual([...all.keys()].sort());
    expect(hunks.left.length).toBeGreaterThan(0);
    expect(text).toContain(`[${hunks.left.length} of ${all.size} hunks are not shown whole`);
  }

  // `npm test` tries every second repository.
  test.each(PLANS.filter((_, nth) => nth % 2 === 0))("%s", expectWholeHunks);
  thoroughTest.each(PLANS.filter((_, nth) => nth % 2 === 1))("%s", expectWholeHunks);
});
