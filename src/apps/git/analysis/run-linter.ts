import { accessSync, constants } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { SpawnedGroup } from "../../../tools/tool.ts";
import { findProgram } from "../repository/find-program.ts";
import { isWithin } from "../repository/is-within.ts";
import type { Repository } from "../repository/repository.ts";
import { runProgram } from "../repository/run-program.ts";
import type { Linter, LintFinding } from "./linters.ts";

/** What came of a linter. */
export type LintResult =
  | { readonly type: "finished"; readonly linter: string; readonly findings: readonly LintFinding[] }
  | { readonly type: "not-installed"; readonly linter: string }
  | { readonly type: "failed"; readonly linter: string; readonly reason: string };

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** A compiler's cache and configuration are in the home folder. */
const PASSED_VARIABLES = ["HOME", "LANG", "TMPDIR", "USER", "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOCACHE"];

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
 * none of this process's keys.
 *
 * @param files - Paths from the root; the whole repository if empty.
 */
export async function runLinter(
  repository: Repository,
  linter: Linter,
  files: readonly string[],
  { timeoutMs, onSpawned }: { timeoutMs: number; onSpawned: (group: SpawnedGroup) => Promise<void> },
): Promise<LintResult> {
  const { name, args, takesFiles, read } = linter;
  if (!repository.isTrusted) throw new TypeError(`${name} would run in a repository that nobody trusts`);
  const command = findLinter(repository, linter);
  if (command === undefined) return { type: "not-installed", linter: name };
  const { top, signal } = repository;
  const targets = !takesFiles ? [] : files.length === 0 ? ["."] : files.map((file) => `./${file}`);
  let noted: Promise<void> | undefined;
  const { ending, stdout, stderr } = await runProgram({
    command,
    args: [...args, ...targets],
    cwd: top,
    env: buildEnvironment(),
    signal,
    timeoutMs,
    maxBytes: MAX_OUTPUT_BYTES,
    startsOthers: true,
    onStarted: (pid) => {
      noted = readStartTime(pid).then(async (startTime) => await onSpawned({ pgid: pid, startTime }));
    },
  });
  await noted;
  if (ending !== "exited") return { type: "failed", linter: name, reason: `it was ${ending}` };
  try {
    const findings = read(stdout.toString("utf8")).map((finding) => ({
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

function buildEnvironment(): Record<string, string> {
  const passed = PASSED_VARIABLES.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    ...pickPath(),
    ...Object.fromEntries(passed),
    TERM: "dumb",
    NO_COLOR: "1",
  };
}

function pickPath(): Record<string, string> {
  const { PATH } = process.env;
  return PATH === undefined ? {} : { PATH };
}

function toOwnPath(top: string, path: string): string {
  return (isWithin(top, path) ? relative(top, path) : path).replace(/^\.\//, "");
}

/** Reads the start time of a process, by which a later worker knows it; "" where the system does not tell. */
async function readStartTime(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name of the program may contain anything, so the fields are counted after it.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
