import { accessSync, constants } from "node:fs";
import { join, relative } from "node:path";
import type { ToolContext } from "../../../tools/tool.ts";
import { findProgram } from "../repository/find-program.ts";
import { isWithin } from "../repository/is-within.ts";
import type { Repository } from "../repository/repository.ts";
import type { Linter, LintFinding } from "./linters.ts";

/** What came of a linter. */
export type LintResult =
  | { readonly type: "finished"; readonly linter: string; readonly findings: readonly LintFinding[] }
  | { readonly type: "not-installed"; readonly linter: string }
  | { readonly type: "failed"; readonly linter: string; readonly reason: string };

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Where compilers have their toolchains, packages and caches. A sandbox contains what its settings list of them. */
const PASSED_VARIABLES = ["CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOCACHE"];

/** Finds a linter: one that the repository has installed, or else one on PATH. */
function findLinter({ top }: Repository, { command }: Linter): string | undefined {
  const own = join(top, "node_modules", ".bin", command);
  try {
    accessSync(own, constants.X_OK);
    return own;
  } catch {
    return findProgram(command, top);
  }
}

/**
 * Runs a linter on a trusted repository, which it may run programs of: plug-ins, configurations, build scripts. It receives
 * none of this process's keys, and the repository's sandbox lets it read the repository only.
 *
 * @param files - Paths from the root; the whole repository if empty.
 */
export async function runLinter(
  repository: Repository,
  linter: Linter,
  files: readonly string[],
  { timeoutMs, context }: { timeoutMs: number; context: Pick<ToolContext, "runCommand"> },
): Promise<LintResult> {
  const { name, args, takesFiles, read } = linter;
  if (!repository.isTrusted) throw new TypeError(`${name} would run in a repository that nobody trusts`);
  const command = findLinter(repository, linter);
  if (command === undefined) return { type: "not-installed", linter: name };
  const { top } = repository;
  const targets = !takesFiles ? [] : files.length === 0 ? ["."] : files.map((file) => `./${file}`);
  const { ending, stdout, stderr, stdoutTruncated } = await context.runCommand({
    ...buildCommand(linter, [command, ...args, ...targets]),
    cwd: top,
    env: { NO_COLOR: "1" },
    allowEnvironment: PASSED_VARIABLES,
    timeoutMs,
    graceMs: 0,
    maxOutputBytes: MAX_OUTPUT_BYTES,
  });
  if (ending !== "exited") return { type: "failed", linter: name, reason: `it was ${ending}` };
  if (stdoutTruncated) {
    return { type: "failed", linter: name, reason: `it printed more than ${MAX_OUTPUT_BYTES} bytes` };
  }
  try {
    const findings = read(stdout).map((finding) => ({
      ...finding,
      path: toOwnPath(top, finding.path),
    }));
    const wanted = new Set(files);
    return {
      type: "finished",
      linter: name,
      findings: wanted.size === 0 ? findings : findings.filter(({ path }) => wanted.has(path)),
    };
  } catch {
    const reason = stderr.trim().split("\n").slice(-3).join(" ").slice(0, 300);
    return { type: "failed", linter: name, reason: reason === "" ? "it printed no findings" : reason };
  }
}

/** Gives a linter a new folder where it cannot write the repository; the sandbox removes it. */
const WITH_SCRATCH_FOLDER = 'test -w . || export "$0=$(mktemp -d)"; exec "$@"';

function buildCommand(
  { scratchVariable }: Linter,
  [command, ...args]: readonly [string, ...string[]],
): { readonly command: string; readonly args: readonly string[] } {
  if (scratchVariable === undefined) return { command, args };
  return { command: "/bin/sh", args: ["-c", WITH_SCRATCH_FOLDER, scratchVariable, command, ...args] };
}

function toOwnPath(top: string, path: string): string {
  return (isWithin(top, path) ? relative(top, path) : path).replace(/^\.\//, "");
}
