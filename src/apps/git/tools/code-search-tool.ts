import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { z } from "zod";
import { type ExecutableTool, ToolError } from "../../../tools/tool.ts";
import { findProgram } from "../repository/find-program.ts";
import { isWithin } from "../repository/is-within.ts";
import { RepositoryError } from "../repository/repository-error.ts";
import { runProgram } from "../repository/run-program.ts";
import { LineReader } from "../text/line-reader.ts";
import { toVisibleName } from "../text/visible-text.ts";
import { defineGitTool, type GitToolOptions } from "./define-git-tool.ts";

const SEARCH_TIMEOUT_MS = 30_000;
/** A larger file is data. */
const MAX_FILE_SIZE = "16M";
const MAX_COLUMNS = 400;
/** The program is stopped after more matches. */
const MAX_COUNTED = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const Arguments = z.object({
  query: z.string().min(1).max(1_000).describe("What to search for"),
  is_regex: z.boolean().default(false).describe("Whether `query` is a regular expression (Rust syntax)"),
  case_sensitive: z.boolean().default(true),
  path: z.string().optional().describe("Only in this folder or file, from the root of the repository"),
  glob: z.string().max(200).optional().describe('Only in files that fit, such as "*.ts"'),
  max_results: z.number().int().min(1).max(500).default(100),
});

type Match = { readonly path: string; readonly line: number; readonly text: string };

export function createCodeSearchTool(options: GitToolOptions = {}): ExecutableTool {
  return defineGitTool(
    {
      name: "code_search",
      label: "Search code",
      description: `Searches the files of the work tree with ripgrep. Files that .gitignore names, binary files and files of more than ${MAX_FILE_SIZE} are left out.`,
      inputSchema: Arguments,
      summarise: ({ query }) => query,
      touches: ({ path }) => ({ paths: [path ?? "."] }),
      answer: async ({ top, environment, signal }, input) => {
        const { PATH = "", HOME = "" } = environment;
        const command = await findRipgrep(top);
        const matches: Match[] = [];
        let total = 0;
        let name = "";
        const reader = new LineReader(8 * 1024, (line) => {
          // A name ends in NUL, and may contain line feeds.
          const end = line.indexOf("\0");
          if (end === -1) {
            name += `${line}\n`;
            return;
          }
          const path = (name + line.slice(0, end)).replace(/^\.\//, "");
          const [, number = "", text = ""] = /^(\d+):(.*)$/s.exec(line.slice(end + 1)) ?? [];
          name = "";
          total += 1;
          if (matches.length < input.max_results)
            matches.push({ path, line: Number(number), text: text.replace(/\r$/, "") });
        });
        const { ending, exitCode, stderr } = await runProgram({
          command,
          args: [...buildArguments(input), "--", await resolveFolder(top, input.path)],
          cwd: top,
          env: { PATH, HOME, LC_ALL: "C" },
          signal,
          timeoutMs: SEARCH_TIMEOUT_MS,
          maxBytes: MAX_OUTPUT_BYTES,
          onChunk: (chunk) => {
            reader.push(chunk);
            return total > MAX_COUNTED ? "enough" : "more";
          },
        });
        reader.end();
        if (ending === "cancelled") throw new ToolError("cancelled", "Cancelled");
        if (ending === "timed-out") {
          throw new RepositoryError(
            "timed-out",
            `The search did not end within ${SEARCH_TIMEOUT_MS / 1000} s; name a path`,
          );
        }
        if (exitCode === 2 && total === 0 && stderr !== "")
          throw new ToolError("failed", stderr.trim().slice(0, 1_000));
        const isStopped = ending === "stopped";
        const count = isStopped ? `more than ${MAX_COUNTED}` : `${total}`;
        const left = total - matches.length;
        return {
          text: [
            `${count} matches`,
            ...matches.map(({ path, line, text }) => `${toVisibleName(path)}:${line}: ${text}`),
            ...(left > 0
              ? [`[${isStopped ? "More" : left} are not shown: narrow the search by path or glob]`]
              : []),
          ].join("\n"),
          details: { total, isStopped, matches },
        };
      },
    },
    options,
  );
}

function buildArguments({
  query,
  is_regex,
  case_sensitive,
  glob,
}: z.infer<typeof Arguments>): readonly string[] {
  return [
    ...["--no-config", "--no-messages", "--color=never", "--no-follow", "--one-file-system"],
    ...["--line-number", "--with-filename", "--no-heading", "--null", "--sort=path"],
    // Only what git ignores is left out: other ignore files would hide code from a reader of the repository.
    ...[
      "--hidden",
      "--no-ignore-dot",
      "--no-ignore-global",
      "--no-ignore-parent",
      "--no-require-git",
      "--glob=!.git",
    ],
    ...[`--max-filesize=${MAX_FILE_SIZE}`, `--max-columns=${MAX_COLUMNS}`, "--max-columns-preview"],
    ...(is_regex ? [] : ["--fixed-strings"]),
    ...(case_sensitive ? [] : ["--ignore-case"]),
    ...(glob === undefined || glob === "" ? [] : [`--glob=${glob}`]),
    `--regexp=${query}`,
  ];
}

/** Returns the folder in the form that ripgrep takes: it begins with "./", so that it is no option. */
async function resolveFolder(top: string, path = "."): Promise<string> {
  const absolute = resolve(top, path === "" ? "." : path);
  const real = await realpath(absolute).catch(() => undefined);
  if (!isWithin(top, absolute) || (real !== undefined && !isWithin(top, real))) {
    throw new RepositoryError("unsafe", `${JSON.stringify(path)} is outside the work tree`);
  }
  if (real === undefined) throw new RepositoryError("unknown-path", `${JSON.stringify(path)} does not exist`);
  // A pipe would be read until somebody ends it.
  const stats = await stat(real);
  if (!stats.isFile() && !stats.isDirectory()) {
    throw new RepositoryError("unknown-path", `${JSON.stringify(path)} is neither a file nor a folder`);
  }
  return `./${real.slice(top.length + 1)}`;
}

/** Finds the ripgrep of the package, or else one on PATH. The import fails where no binary was installed. */
async function findRipgrep(top: string): Promise<string> {
  const own = await import("@vscode/ripgrep").then(
    ({ rgPath }) => rgPath,
    () => undefined,
  );
  const found = own ?? findProgram("rg", top);
  if (found !== undefined) return found;
  throw new ToolError(
    "failed",
    "ripgrep is not installed on this machine; install it, or read files with file_read",
  );
}
