import { z } from "zod";
import type { ExecutableTool } from "../../../tools/tool.ts";
import { openWorktreeFile } from "../repository/open-worktree-file.ts";
import type { Repository } from "../repository/repository.ts";
import { RepositoryError } from "../repository/repository-error.ts";
import { resolveCommit } from "../repository/resolve-commit.ts";
import { runGit, tryGit } from "../repository/run-git.ts";
import { LineReader } from "../text/line-reader.ts";
import { defineGitTool, type GitToolOptions } from "./define-git-tool.ts";
import { type FileLine, type FileLines, readLines } from "./read-lines.ts";

const DEFAULT_LINES = 500;
const MAX_LINES = 2_000;
/** The most text of one answer, in characters. */
const MAX_CHARS = 45_000;
const MAX_BLOB_BYTES = 16 * 1024 * 1024;
const MAX_LINE_BYTES = 8 * 1024;

const Arguments = z.object({
  path: z.string().min(1).describe("Path of the file from the root of the repository"),
  start_line: z.number().int().min(1).default(1).describe("First line; lines count from 1"),
  num_lines: z.number().int().min(1).max(MAX_LINES).default(DEFAULT_LINES).describe("How many lines to read"),
  commit: z.string().optional().describe("The file as it was at this commit; the work tree by default"),
});

export function createFileReadTool(options: GitToolOptions = {}): ExecutableTool {
  return defineGitTool(
    {
      name: "file_read",
      label: "Read file",
      description:
        "Reads a text file of the repository with line numbers: from the work tree, or as it was at a commit. Read large files in parts.",
      inputSchema: Arguments,
      summarise: ({ path, start_line }) => `${path}:${start_line}`,
      touches: ({ path }) => ({ paths: [path] }),
      answer: async (repository, { path, start_line, num_lines, commit = "" }) => {
        const last = start_line + num_lines - 1;
        const id = commit === "" ? undefined : await resolveCommit(repository, commit);
        const read =
          id === undefined
            ? await readFromWorktree(repository, path, start_line, last)
            : await readFromCommit(repository, id, path, start_line, last);
        if (read.type === "binary") return { text: "The file is binary.", details: { path, isBinary: true } };
        const { total, isPartial } = read;
        const lines = takeWithin(read.lines, MAX_CHARS);
        if (lines.length === 0 && total >= start_line) throw new TypeError("a line is longer than an answer");
        const end = start_line + lines.length - 1;
        const size = isPartial ? `more than ${total}` : `${total}`;
        const header =
          lines.length === 0
            ? `[No line ${start_line}: ${size} lines]`
            : `[Lines ${start_line}-${end} of ${size}]`;
        const text = lines.map(
          ({ line, text, isCut }) => `${String(line).padStart(5)} | ${text}${isCut ? " [... line cut]" : ""}`,
        );
        const more = lines.length > 0 && end < total ? [`[More: call with start_line=${end + 1}]`] : [];
        return {
          text: [header, ...text, ...more].join("\n"),
          details: {
            path,
            isBinary: false,
            totalLines: total,
            isPartial,
            start: start_line,
            lines: lines.map(({ text }) => text),
          },
        };
      },
    },
    options,
  );
}

function takeWithin(lines: readonly FileLine[], maxChars: number): readonly FileLine[] {
  let chars = 0;
  const end = lines.findIndex(({ text }) => {
    chars += text.length + 9;
    return chars > maxChars;
  });
  return end === -1 ? lines : lines.slice(0, end);
}

async function readFromWorktree(
  { top }: Repository,
  path: string,
  from: number,
  to: number,
): Promise<FileLines> {
  const { handle } = await openWorktreeFile(top, path);
  try {
    return await readLines(handle, from, to);
  } finally {
    await handle.close();
  }
}

async function readFromCommit(
  repository: Repository,
  commit: string,
  path: string,
  from: number,
  to: number,
): Promise<FileLines> {
  // The name begins with the id of a commit, so it is no option.
  const name = `${commit}:${path.replace(/^\.\//, "")}`;
  if ((await tryGit(repository, ["cat-file", "-t", name]))?.trim() !== "blob") {
    throw new RepositoryError(
      "unknown-path",
      `${JSON.stringify(path)} is no file of commit ${commit.slice(0, 12)}`,
    );
  }
  const lines: FileLine[] = [];
  let total = 0;
  let isBinary = false;
  let bytes = 0;
  const reader = new LineReader(MAX_LINE_BYTES, (text, isCut) => {
    total += 1;
    if (total >= from && total <= to) lines.push({ line: total, text: text.replace(/\r$/, ""), isCut });
  });
  const { isCut } = await runGit(repository, ["cat-file", "blob", name], {
    maxBytes: MAX_BLOB_BYTES,
    onChunk: (chunk) => {
      if (bytes === 0) isBinary = chunk.subarray(0, 8_000).includes(0);
      bytes += chunk.length;
      reader.push(chunk);
      return isBinary ? "enough" : "more";
    },
  });
  reader.end();
  return isBinary ? { type: "binary" } : { type: "text", lines, total, isPartial: isCut };
}
