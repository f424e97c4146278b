import { z } from "zod";
import type { ExecutableTool } from "../../../tools/tool.ts";
import { type ChangedFile, type ChangeSet, toChangeSet } from "../changes/change-set.ts";
import { readChangeSet } from "../changes/read-change-set.ts";
import { type RankedFile, rankFiles } from "../changes/relevance.ts";
import { classifySize, describeGuidance, type SizeClass } from "../changes/size-class.ts";
import {
  changeSourceArguments,
  resolveChangeSource,
  summariseChangeSource,
} from "./change-source-arguments.ts";
import { defineGitTool, type GitToolOptions } from "./define-git-tool.ts";
import { formatDiffs, formatRanking, formatSummary, type ShownHunks } from "./format-changes.ts";

const Arguments = z.object({
  ...changeSourceArguments,
  detail: z
    .enum(["summary", "standard"])
    .default("summary")
    .describe("summary: files with relevance. standard: their diffs as well"),
  files: z
    .array(z.string())
    .max(200)
    .optional()
    .describe("Only these files: paths from the root of the repository, or folders"),
  from_hunk: z.number().int().min(1).optional().describe("The first hunk to show, when an answer was cut"),
});

export function createGitDiffTool(options: GitToolOptions = {}): ExecutableTool {
  return defineGitTool(
    {
      name: "git_diff",
      label: "Diff",
      description:
        "Shows what changed: staged changes, or the difference between two commits. The summary lists files with their relevance and says how to go on; detail=standard adds the diffs. It names every hunk that it leaves out.",
      inputSchema: Arguments,
      summarise: summariseChangeSource,
      answer: async (repository, input) => {
        const source = await resolveChangeSource(repository, input);
        const total = await readChangeSet(repository, source);
        const { files: wanted = [] } = input;
        const changes =
          wanted.length === 0
            ? total
            : toChangeSet(total.files.filter((file) => wanted.some((one) => isAsked(file, one))));
        const size = classifySize(total, wanted.length > 0);
        const ranked = rankFiles(changes.files);
        const diffs =
          input.detail === "standard"
            ? await formatDiffs(repository, source, ranked, input.from_hunk)
            : undefined;
        const hint = `(Call with detail="standard"${size === "large" ? " and files=[...]" : ""} for the diffs.)`;
        const text = [formatSummary(changes, size, total), formatRanking(ranked), diffs?.text ?? hint];
        return {
          text: text.join("\n\n"),
          details: {
            source,
            ...describeChanges(total, changes, size, ranked),
            ...(diffs === undefined ? {} : { hunks: diffs.hunks }),
          },
        };
      },
    },
    options,
  );
}

/** What the tool answers as data. */
type DiffDetails = {
  readonly size: SizeClass;
  readonly guidance: string;
  readonly totalFiles: number;
  readonly added: number;
  readonly deleted: number;
  readonly files: readonly Readonly<Record<string, unknown>>[];
  /** Absent in a summary, which shows none. */
  readonly hunks?: ShownHunks;
};

/** More files are only counted: git_changed_files lists them in parts. */
const MAX_DETAILED_FILES = 500;

function describeChanges(
  total: ChangeSet,
  { added, deleted }: ChangeSet,
  size: SizeClass,
  ranked: readonly RankedFile[],
): DiffDetails {
  return {
    size,
    guidance: describeGuidance(size, total),
    totalFiles: total.files.length,
    added,
    deleted,
    files: ranked.slice(0, MAX_DETAILED_FILES).map(({ file, relevance }) => ({
      path: file.path,
      ...(file.previousPath === undefined ? {} : { previousPath: file.previousPath }),
      change: file.change,
      added: file.added,
      deleted: file.deleted,
      isBinary: file.isBinary,
      hunks: file.hunks.length,
      relevance: relevance.percent,
      reasons: relevance.reasons,
    })),
  };
}

function isAsked({ path, previousPath }: ChangedFile, asked: string): boolean {
  const name = asked.replace(/^\.\//, "").replace(/\/$/, "");
  return [path, previousPath].some((one) => one === name || one?.startsWith(`${name}/`) === true);
}
