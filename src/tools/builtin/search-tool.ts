import type { FileHandle } from "node:fs/promises";
import { z } from "zod";
import { defineTool, type ExecutableTool } from "../tool.ts";
import { ToolError } from "../tool-execution.ts";
import { hasCode, throwIfCancelled, toToolError } from "../workspace/system-error.ts";
import {
  type OpenFolder,
  openFile,
  openFolder,
  openRoot,
  type WorkspaceRoot,
} from "../workspace/workspace-access.ts";
import { findRipgrep } from "./find-ripgrep.ts";
import { SKIPPED_FOLDERS, toPrefix } from "./list-files-tool.ts";
import { runFinder } from "./run-finder.ts";

/** The options of the tool that searches files. */
export type SearchToolOptions = {
  /** The folder that is searched if the call names none; the workspace by default. */
  readonly root?: string;
  /** The most matches that one call returns. */
  readonly maxResults?: number;
  /** The limit of one call, in milliseconds. */
  readonly timeoutMs?: number;
  /** Path of ripgrep; "" uses grep. The ripgrep that comes with the package by default. */
  readonly ripgrep?: string;
};

const DEFAULT_MAX_RESULTS = 50;
const DEFAULT_TIMEOUT_MS = 30_000;

/** Matches beyond this number are not counted: a pattern such as "e" has millions, and each takes time. */
const MAX_COUNTED = 10_000;

const Parameters = z.object({
  pattern: z.string().min(1, "must not be empty").describe("Regular expression to search for"),
  path: z.string().optional().describe("File or folder to search, relative to the workspace"),
  include: z.string().optional().describe('Glob that file names must match, such as "*.ts"'),
  case_sensitive: z.boolean().optional().describe("Whether upper and lower case differ; false by default"),
});

type SearchRequest = z.infer<typeof Parameters>;

export function createSearchTool(options: SearchToolOptions = {}): ExecutableTool {
  const { maxResults = DEFAULT_MAX_RESULTS, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return defineTool({
    name: "search",
    label: "Search",
    description:
      "Searches the content of files for a regular expression. Returns file:line:text for each match.",
    inputSchema: Parameters,
    replay: "pure",
    quick: true,
    touches: ({ path = "." }) => ({ paths: [path] }),
    summarise: ({ pattern }) => pattern,
    async execute(request, context) {
      const path = request.path ?? options.root ?? ".";
      throwIfCancelled(context.signal);
      const target = await openTarget(await openRoot(context.workspace), path).catch((error: unknown) => {
        throw toToolError(error, `Cannot access ${path}`);
      });
      try {
        const ripgrep = options.ripgrep ?? (await findRipgrep()) ?? "";
        const isFile = target.file !== undefined;
        const { lines, total, exitCode, stderr } = await runFinder({
          ...(ripgrep === ""
            ? buildGrepCommand(request, isFile)
            : buildRipgrepCommand(ripgrep, request, isFile)),
          folder: target.folder,
          stdin: target.file?.fd,
          timeoutMs,
          timeoutMessage: "Search timed out",
          maxLines: maxResults,
          maxCounted: MAX_COUNTED,
          context,
        });
        // The program skips unreadable files silently: the exit code is 2 and stderr is empty.
        if (exitCode > 0 && stderr !== "") throw new ToolError("failed", stderr);
        if (exitCode > 1 && total === 0) {
          const reason = `the search ended with exit code ${exitCode} and without a message`;
          throw new ToolError("failed", `Nothing was found, and some files may not be readable: ${reason}`);
        }
        const prefix = isFile ? `${path}:` : toPrefix(path);
        const matches = lines.map((line) => prefix + (isFile ? line : line.replace(/^\.\//, "")));
        const notice = total > maxResults ? `\n... (truncated at ${maxResults} matches)` : "";
        const text = total === 0 ? "No matches found" : `${matches.join("\n")}${notice}`;
        return {
          content: [{ type: "text", text }],
          details: { matches: total, truncated: total > maxResults },
        };
      } finally {
        await target.file?.close();
        await target.folder.handle.close();
      }
    },
  });
}

/** Opens the search target. A single file becomes the program's input, so that its path is not resolved a second time. */
async function openTarget(
  root: WorkspaceRoot,
  path: string,
): Promise<{ folder: OpenFolder; file?: FileHandle }> {
  try {
    return { folder: await openFolder(root, path) };
  } catch (error) {
    if (!hasCode(error, "ENOTDIR")) throw error;
  }
  const { handle: file } = await openFile(root, path);
  try {
    return { folder: await openFolder(root, "."), file };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Builds the command. Ignore files in and below the searched folder apply, with or without a git repository around them. */
function buildRipgrepCommand(command: string, request: SearchRequest, isFile: boolean) {
  const args = ["--no-config", "--no-messages", "--line-number", "--no-heading", "--color=never"];
  args.push("--no-ignore-parent", "--no-require-git", "--sort=path", `--max-count=${MAX_COUNTED + 1}`);
  args.push("--max-columns=2000", "--max-columns-preview", isFile ? "--no-filename" : "--with-filename");
  if (request.case_sensitive !== true) args.push("--ignore-case");
  if (!isFile) {
    if (request.include !== undefined) args.push(`--glob=${request.include}`);
    args.push(...SKIPPED_FOLDERS.map((name) => `--glob=!**/${name}/**`));
  }
  return { command, args: [...args, `--regexp=${request.pattern}`, "--", isFile ? "-" : "./"] };
}

function buildGrepCommand(request: SearchRequest, isFile: boolean) {
  const args = ["-n", "-E", "-I", "-s", `-m${MAX_COUNTED + 1}`, isFile ? "-h" : "-r"];
  if (request.case_sensitive !== true) args.push("-i");
  if (!isFile) {
    if (request.include !== undefined) args.push(`--include=${request.include}`);
    args.push(...SKIPPED_FOLDERS.map((name) => `--exclude-dir=${name}`));
  }
  return { command: "grep", args: [...args, "-e", request.pattern, "--", isFile ? "-" : "."] };
}
