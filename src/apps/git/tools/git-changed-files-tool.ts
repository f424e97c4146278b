import { z } from "zod";
import type { ExecutableTool } from "../../../tools/tool.ts";
import { describeLines } from "../changes/change-set.ts";
import { readChangeSet } from "../changes/read-change-set.ts";
import { toVisibleName } from "../text/visible-text.ts";
import {
  changeSourceArguments,
  resolveChangeSource,
  summariseChangeSource,
} from "./change-source-arguments.ts";
import { defineGitTool, type GitToolOptions } from "./define-git-tool.ts";

const Arguments = z.object({
  ...changeSourceArguments,
  offset: z.number().int().min(0).default(0).describe("How many files to leave out at the beginning"),
  limit: z.number().int().min(1).max(1000).default(500).describe("The most files to list"),
});

export function createGitChangedFilesTool(options: GitToolOptions = {}): ExecutableTool {
  return defineGitTool(
    {
      name: "git_changed_files",
      label: "Changed files",
      description:
        "Lists the files that changed between two commits or branches, or that are staged, with their added and deleted lines, in parts if there are many.",
      inputSchema: Arguments,
      summarise: summariseChangeSource,
      answer: async (repository, input) => {
        const source = await resolveChangeSource(repository, input);
        const { files, added, deleted } = await readChangeSet(repository, source, { withHunks: false });
        const part = files.slice(input.offset, input.offset + input.limit);
        const lines = part.map((file) => {
          const { change, path, previousPath } = file;
          const name = previousPath === undefined ? "" : `${toVisibleName(previousPath)} -> `;
          return `${change} ${name}${toVisibleName(path)} ${describeLines(file)}`;
        });
        const end = input.offset + part.length;
        const more = end < files.length ? [`[${files.length - end} more: call with offset=${end}]`] : [];
        return {
          text: [`${files.length} files | +${added} -${deleted}`, ...lines, ...more].join("\n"),
          details: {
            total: files.length,
            added,
            deleted,
            files: part.map(({ hunks: _, signals: __, ...file }) => file),
          },
        };
      },
    },
    options,
  );
}
