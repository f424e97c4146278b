import { z } from "zod";
import { type ExecutableTool, ToolError } from "../../../tools/tool.ts";
import { type ChangeSource, describeLines } from "../changes/change-set.ts";
import { hashEmptyTree, readChangeSet } from "../changes/read-change-set.ts";
import { readCommits } from "../changes/read-commits.ts";
import { scoreRelevance } from "../changes/relevance.ts";
import { resolveCommit } from "../repository/resolve-commit.ts";
import { toVisibleName } from "../text/visible-text.ts";
import { defineGitTool, type GitToolOptions } from "./define-git-tool.ts";
import { formatDiffs, listFiles } from "./format-changes.ts";
import { oneLine } from "./format-commit.ts";

const MAX_MESSAGE_CHARS = 8_000;
/** With the message and the diff, an answer stays below its bound. */
const MAX_LIST_CHARS = 5_000;
const MAX_DETAILED_FILES = 300;

const Arguments = z.object({
  commit: z.string().min(1).describe("A branch, tag or commit"),
  from_hunk: z.number().int().min(1).optional().describe("The first hunk to show, when an answer was cut"),
});

export function createGitShowTool(options: GitToolOptions = {}): ExecutableTool {
  return defineGitTool(
    {
      name: "git_show",
      label: "Show commit",
      description:
        "Shows a commit: its message, the files that it changes, and its diff. A merge is shown as what it brings to its first parent.",
      inputSchema: Arguments,
      summarise: ({ commit }) => commit,
      answer: async (repository, input) => {
        const id = await resolveCommit(repository, input.commit);
        const [commit] = await readCommits(repository, { to: id, count: 1 });
        if (commit === undefined) throw new ToolError("failed", `Commit ${id} cannot be read`);
        const source: ChangeSource = {
          type: "commits",
          from: commit.parents[0] ?? (await hashEmptyTree(repository)),
          to: id,
        };
        const { files, added, deleted } = await readChangeSet(repository, source);
        const ranked = files.map((file) => ({ file, relevance: scoreRelevance(file) }));
        const diffs = await formatDiffs(repository, source, ranked, input.from_hunk);
        const message = `${commit.subject}${commit.body === "" ? "" : `\n\n${commit.body}`}`;
        const stat = listFiles(
          files,
          MAX_LIST_CHARS,
          (file) => ` ${file.change} ${toVisibleName(file.path)} ${describeLines(file)}`,
        );
        const text = [
          `commit ${id}${commit.parents.length > 1 ? ` (merge of ${commit.parents.join(" and ")})` : ""}`,
          `Author: ${oneLine(commit.author)} <${oneLine(commit.email)}>`,
          `Date: ${commit.date}`,
          "",
          message.length > MAX_MESSAGE_CHARS
            ? `${message.slice(0, MAX_MESSAGE_CHARS)} [... message cut]`
            : message,
          "",
          `${files.length} files | +${added} -${deleted}`,
          ...stat,
          ...(files.length > stat.length ? [` ... and ${files.length - stat.length} more`] : []),
          "",
          diffs.text,
        ];
        return {
          text: text.join("\n"),
          details: {
            commit,
            source,
            totalFiles: files.length,
            added,
            deleted,
            files: files.slice(0, MAX_DETAILED_FILES).map(({ path, change, ...file }) => ({
              path,
              change,
              added: file.added,
              deleted: file.deleted,
              isBinary: file.isBinary,
            })),
            hunks: diffs.hunks,
          },
        };
      },
    },
    options,
  );
}
