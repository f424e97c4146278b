import { posix } from "node:path";
import { z } from "zod";
import { defineTool, type ExecutableTool } from "../tool.ts";
import { ToolError } from "../tool-execution.ts";
import { throwIfCancelled, toToolError } from "../workspace/system-error.ts";
import { openFolder, openRoot } from "../workspace/workspace-access.ts";
import { findRipgrep } from "./find-ripgrep.ts";
import { runFinder } from "./run-finder.ts";

/** The options of the tool that lists a folder. */
export type ListFilesToolOptions = {
  /** The most paths that one call returns. */
  readonly maxResults?: number;
  /** The limit of one call, in milliseconds. */
  readonly timeoutMs?: number;
  /** Path of ripgrep; "" uses find. The ripgrep that comes with the package by default. */
  readonly ripgrep?: string;
};

/** Folders with generated content. */
export const SKIPPED_FOLDERS = ["target", ".git", "node_modules"] as const;

const DEFAULT_MAX_RESULTS = 200;
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_DEPTH = 3;

const Parameters = z.object({
  path: z
    .string()
    .optional()
    .describe("Folder to list, relative to the workspace; the workspace itself by default"),
  pattern: z.string().optional().describe('Glob that file names must match, such as "*.ts" or "src/**/*.ts"'),
  max_depth: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe(`Maximum depth; 1 lists only the files directly in the folder. ${DEFAULT_DEPTH} by default`),
});

type ListFilesRequest = z.infer<typeof Parameters>;

export function createListFilesTool(options: ListFilesToolOptions = {}): ExecutableTool {
  const { maxResults = DEFAULT_MAX_RESULTS, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return defineTool({
    name: "list_files",
    label: "List files",
    description: `Lists files below a folder, sorted by path. Skips ${SKIPPED_FOLDERS.join(", ")}.`,
    inputSchema: Parameters,
    replay: "pure",
    quick: true,
    touches: ({ path = "." }) => ({ paths: [path] }),
    summarise: ({ path = ".", pattern }) => (pattern === undefined ? path : posix.join(path, pattern)),
    async execute(request, context) {
      const { path = "." } = request;
      throwIfCancelled(context.signal);
      const folder = await openFolder(await openRoot(context.workspace), path).catch((error: unknown) => {
        throw toToolError(error, `Cannot access ${path}`);
      });
      try {
        const ripgrep = options.ripgrep ?? (await findRipgrep()) ?? "";
        const findings = await runFinder({
          ...(ripgrep === "" ? buildFindCommand(request) : buildRipgrepCommand(ripgrep, request)),
          folder,
          timeoutMs,
          timeoutMessage: "List timed out",
          // find does not sort.
          maxLines: ripgrep === "" ? Number.POSITIVE_INFINITY : maxResults,
          maxCounted: Number.POSITIVE_INFINITY,
          context,
        });
        const { total, exitCode, stderr } = findings;
        // An unreadable folder makes the exit code 2, and the rest of the list is still valid.
        if (total === 0 && exitCode !== 0 && stderr !== "") throw new ToolError("failed", stderr);
        const sorted = ripgrep === "" ? findings.lines.toSorted() : findings.lines;
        const files = sorted.slice(0, maxResults).map((file) => toPrefix(path) + file.replace(/^\.\//, ""));
        const truncated = total > maxResults;
        const notice = truncated ? `\n... (truncated at ${maxResults} results)` : "";
        const text = total === 0 ? "No files found" : `${files.join("\n")}${notice}`;
        return { content: [{ type: "text", text }], details: { total, truncated } };
      } finally {
        await folder.handle.close();
      }
    },
  });
}

/** Returns the prefix of paths below a folder, as the call names the folder. */
export function toPrefix(path: string): string {
  return posix.join(path, "/").replace(/^\.\//, "");
}

function buildRipgrepCommand(command: string, { pattern, max_depth = DEFAULT_DEPTH }: ListFilesRequest) {
  const args = [
    "--no-config",
    "--files",
    "--hidden",
    "--no-ignore",
    "--sort=path",
    `--max-depth=${max_depth}`,
  ];
  if (pattern !== undefined) args.push(`--glob=${pattern}`);
  // The last glob that matches decides.
  args.push(...SKIPPED_FOLDERS.map((name) => `--glob=!**/${name}/**`));
  return { command, args };
}

/** `find` matches file names only. */
function buildFindCommand({ pattern, max_depth = DEFAULT_DEPTH }: ListFilesRequest) {
  const skipped = SKIPPED_FOLDERS.flatMap((name) => ["-o", "-name", name]).slice(1);
  const args = [
    ".",
    "-maxdepth",
    String(max_depth),
    "-type",
    "d",
    "(",
    ...skipped,
    ")",
    "-prune",
    "-o",
    "-type",
    "f",
  ];
  if (pattern !== undefined) args.push("-name", posix.basename(pattern));
  return { command: "find", args: [...args, "-print"] };
}
