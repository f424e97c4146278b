import { z } from "zod";
import type { ExecutableTool } from "../../../tools/tool.ts";
import { readCommits } from "../changes/read-commits.ts";
import { findCommit, resolveCommit } from "../repository/resolve-commit.ts";
import { defineGitTool, type GitToolOptions } from "./define-git-tool.ts";
import { formatCommit } from "./format-commit.ts";

const MAX_BODY_CHARS = 1_000;

const Arguments = z.object({
  count: z.number().int().min(1).max(200).default(10).describe("The most commits"),
  from: z
    .string()
    .optional()
    .describe("Leave out this commit and all that it contains: a branch, tag or commit"),
  to: z.string().optional().describe("Begin with this commit; HEAD by default"),
  skip: z.number().int().min(0).default(0).describe("How many commits to leave out at the beginning"),
  path: z.string().optional().describe("Only commits that change this file or folder"),
});

export function createGitLogTool(options: GitToolOptions = {}): ExecutableTool {
  return defineGitTool(
    {
      name: "git_log",
      label: "Log",
      description: "Lists commits with their messages, the newest first: recent ones, or those of a range.",
      inputSchema: Arguments,
      summarise: ({ from = "", to = "", count }) =>
        from === "" ? `${count}` : `${from}..${to === "" ? "HEAD" : to}`,
      answer: async (repository, { count, skip, from = "", to = "", path = "" }) => {
        // A repository without a commit has none to list.
        if (to === "" && from === "" && (await findCommit(repository, "HEAD")) === undefined) {
          return { text: "There are no commits yet.", details: { commits: [] } };
        }
        const commits = await readCommits(repository, {
          to: await resolveCommit(repository, to === "" ? "HEAD" : to),
          from: from === "" ? undefined : await resolveCommit(repository, from),
          count,
          skip,
          path: path === "" ? undefined : path,
        });
        const more = commits.length === count ? [`[There may be more: call with skip=${skip + count}]`] : [];
        const lines = commits.map((commit) => formatCommit(commit, MAX_BODY_CHARS));
        return {
          text: commits.length === 0 ? "No commits." : [...lines, ...more].join("\n"),
          details: { commits },
        };
      },
    },
    options,
  );
}
