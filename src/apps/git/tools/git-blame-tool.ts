import { z } from "zod";
import type { ExecutableTool } from "../../../tools/tool.ts";
import { readBlame } from "../changes/read-blame.ts";
import { readCommits } from "../changes/read-commits.ts";
import { findCommit, resolveCommit } from "../repository/resolve-commit.ts";
import { defineGitTool, type GitToolOptions } from "./define-git-tool.ts";
import { formatCommit, oneLine } from "./format-commit.ts";

const MAX_LINES = 400;
const RECENT_COMMITS = 5;

const Arguments = z.object({
  file: z.string().min(1).describe("Path of the file from the root of the repository"),
  start_line: z.number().int().min(1).describe("First line; lines count from 1"),
  end_line: z.number().int().min(1).describe(`Last line; at most ${MAX_LINES} lines`),
  commit: z.string().optional().describe("The file as it was at this commit; the work tree by default"),
});

export function createGitBlameTool(options: GitToolOptions = {}): ExecutableTool {
  return defineGitTool(
    {
      name: "git_blame",
      label: "Blame",
      description:
        "Shows for each line of a file which commit wrote it, who and when, and the recent commits that changed the file.",
      inputSchema: Arguments,
      summarise: ({ file, start_line, end_line }) => `${file}:${start_line}-${end_line}`,
      touches: ({ file }) => ({ paths: [file] }),
      answer: async (repository, { file, start_line, end_line, commit = "" }) => {
        const last = Math.min(Math.max(end_line, start_line), start_line + MAX_LINES - 1);
        const at = commit === "" ? undefined : await resolveCommit(repository, commit);
        const lines = await readBlame(repository, { path: file, from: start_line, to: last, commit: at });
        const head = at ?? (await findCommit(repository, "HEAD"));
        const recent =
          head === undefined
            ? []
            : await readCommits(repository, { to: head, count: RECENT_COMMITS, path: file });
        const text = lines.map(({ commit, line, author, time, text }) => {
          const date = new Date(time * 1000).toISOString().slice(0, 10);
          return `${commit.slice(0, 12)} ${date} ${oneLine(author)} ${line}| ${text}`;
        });
        const messages = new Map(lines.map(({ commit, summary }) => [commit, oneLine(summary)]));
        const cut =
          end_line > last
            ? [`[Lines ${last + 1}-${end_line} are not shown: ask for them in another call]`]
            : [];
        return {
          text: [
            ...text,
            ...cut,
            "",
            "Commits of these lines:",
            ...[...messages].map(([id, summary]) => `${id.slice(0, 12)} ${summary}`),
            "",
            "Recent commits of the file:",
            ...recent.map((one) => formatCommit(one, 0)),
          ].join("\n"),
          details: { lines, recent: recent.map(({ body: _, ...one }) => one) },
        };
      },
    },
    options,
  );
}
