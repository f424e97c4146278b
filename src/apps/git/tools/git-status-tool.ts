import { z } from "zod";
import type { ExecutableTool } from "../../../tools/tool.ts";
import { readStatus, type StatusFile } from "../changes/read-status.ts";
import { runGit } from "../repository/run-git.ts";
import { toVisibleName } from "../text/visible-text.ts";
import { defineGitTool, type GitToolOptions } from "./define-git-tool.ts";

const MAX_LISTED_FILES = 500;

export function createGitStatusTool(options: GitToolOptions = {}): ExecutableTool {
  return defineGitTool(
    {
      name: "git_status",
      label: "Status",
      description: "Shows the branch and the files that are staged, changed, unmerged or untracked.",
      inputSchema: z.object({}),
      answer: async (repository) => {
        const args = ["--porcelain=v2", "--branch", "-z", "--ignore-submodules=dirty", "--find-renames"];
        const { stdout } = await runGit(repository, ["status", ...args]);
        const { files, ...head } = readStatus(stdout.toString("utf8"));
        const listed = files.slice(0, MAX_LISTED_FILES);
        const left = files.length - listed.length;
        const lines = [
          `Branch: ${toVisibleName(head.branch ?? "(none: HEAD is a commit)")}`,
          `Commit: ${head.commit ?? "(none yet)"}`,
          `Files changed: ${files.length}`,
          ...listed.map(formatFile),
          ...(left > 0 ? [`  ... and ${left} more`] : []),
        ];
        return { text: lines.join("\n"), details: { ...head, total: files.length, files: listed } };
      },
    },
    options,
  );
}

function formatFile({ path, previousPath, staged, unstaged, state }: StatusFile): string {
  const name = previousPath === undefined ? "" : `${toVisibleName(previousPath)} -> `;
  const words = [
    ...(state === "changed" ? [] : [state]),
    ...(staged === undefined ? [] : [`staged: ${staged}`]),
    ...(unstaged === undefined ? [] : [`not staged: ${unstaged}`]),
  ];
  return `  ${name}${toVisibleName(path)} (${words.join(", ")})`;
}
