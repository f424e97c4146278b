import { z } from "zod";
import type { ExecutableTool } from "../../../tools/tool.ts";
import type { GitConfig } from "../repository/read-config.ts";
import { findCommit } from "../repository/resolve-commit.ts";
import { tryGit } from "../repository/run-git.ts";
import { toVisibleName } from "../text/visible-text.ts";
import { defineGitTool, type GitToolOptions } from "./define-git-tool.ts";

export function createGitRepoInfoTool(options: GitToolOptions = {}): ExecutableTool {
  return defineGitTool(
    {
      name: "git_repo_info",
      label: "Repository",
      description:
        "Shows the repository: its path, branch, commit and remotes, and whether the user trusts it.",
      inputSchema: z.object({}),
      answer: async (repository) => {
        const { top, config, isTrusted } = repository;
        const reference = (await tryGit(repository, ["symbolic-ref", "--quiet", "HEAD"]))?.trim();
        const branch = reference?.replace(/^refs\/heads\//, "");
        const commit = await findCommit(repository, "HEAD");
        const remotes = listRemotes(config);
        return {
          text: [
            `Path: ${toVisibleName(top)}`,
            `Branch: ${branch === undefined ? "(none: HEAD is a commit)" : toVisibleName(branch)}`,
            `Commit: ${commit ?? "(none yet)"}`,
            ...remotes.map(({ name, url }) => `Remote: ${toVisibleName(name)} ${toVisibleName(url)}`),
            `Trusted: ${isTrusted ? "yes" : "no; static analysis is off"}`,
          ].join("\n"),
          details: {
            path: top,
            ...(branch === undefined ? {} : { branch }),
            ...(commit === undefined ? {} : { commit }),
            remotes,
            isTrusted,
          },
        };
      },
    },
    options,
  );
}

/** Lists the remotes. User names and passwords in an address are for git alone. */
function listRemotes(config: GitConfig): readonly { readonly name: string; readonly url: string }[] {
  return [...config].flatMap(([key, values]) => {
    const name = /^remote\.(.+)\.url$/s.exec(key)?.[1];
    const url = values[0];
    return name === undefined || url === undefined
      ? []
      : [{ name, url: url.replace(/^([a-z+]+:\/\/)[^/@]*@/i, "$1") }];
  });
}
