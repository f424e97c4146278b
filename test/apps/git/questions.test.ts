import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { askTools, type ToolAnswer } from "../../../src/apps/git/questions.ts";
import { createTemporaryFolder } from "../../tools/tool-context.ts";
import { buildRepository } from "./build-repository.ts";

async function ask(folder: string): Promise<readonly ToolAnswer[]> {
  const answers: ToolAnswer[] = [];
  for await (const answer of askTools(folder)) answers.push(answer);
  return answers;
}

test("the fixed questions have an answer each, with a text and data", async () => {
  const { folder, remove } = await buildRepository({ commits: 20, lastFiles: 3, seed: 5 });
  const answers = await ask(folder);
  await remove();
  expect(answers.map(({ tool }) => tool)).toEqual([
    "git_status",
    "git_diff",
    "git_diff",
    "git_log",
    "git_show",
    "git_changed_files",
    "git_blame",
    "repo_map",
    "change_guidance",
  ]);
  for (const { tool, result } of answers) expect(result, tool).not.toHaveProperty("error");
  expect(answers[3]?.result["commits"]).toHaveLength(20);
  expect(answers[6]?.arguments).toMatchObject({ start_line: 1, end_line: 40 });
  expect(answers[8]?.result).toMatchObject({ size: "medium", totalFiles: answers[5]?.result["total"] });
});

test("a repository without a commit answers what it can, and says why it cannot answer the rest", async () => {
  const folder = join(await createTemporaryFolder(), "empty");
  execFileSync("git", ["init", "--quiet", folder]);
  const answers = await ask(folder);
  const failed = answers
    .filter(({ result }) => "error" in result)
    .map(({ arguments: { from, commit } }) => from ?? commit);
  expect(failed).toEqual(["HEAD~3", "HEAD", "HEAD~3", "HEAD~3"]);
  expect(answers[0]?.result["text"]).toContain("(none yet)");
});
