import { lstat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { findProgram } from "./find-program.ts";
import { buildGitEnvironment } from "./git-environment.ts";
import { RepositoryError } from "./repository-error.ts";
import { runProgram } from "./run-program.ts";

/** The values of each key in order, by lower-case key (the name of a section keeps its case). */
export type GitConfig = ReadonlyMap<string, readonly string[]>;

const MAX_CONFIG_BYTES = 1024 * 1024;
const CONFIG_TIMEOUT_MS = 5_000;

/** Finds git; throws if the machine has none outside of the repository. */
export function findGit(top: string): string {
  const git = findProgram("git", top);
  if (git === undefined) {
    throw new RepositoryError("failed", "git is not installed on this machine; install it, and try again");
  }
  return git;
}

/** Reads a configuration file as data: git parses it, follows none of its includes, and applies none of its settings. */
export async function readConfigFile(file: string, top: string): Promise<GitConfig> {
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined) return new Map();
  if (!found.isFile() || found.size > MAX_CONFIG_BYTES) {
    throw new RepositoryError("unsafe", `${file} is no regular file of at most ${MAX_CONFIG_BYTES} bytes`);
  }
  const home = tmpdir();
  const { exitCode, stdout, stderr } = await runProgram({
    command: findGit(top),
    args: ["config", "--file", file, "--no-includes", "--null", "--list"],
    cwd: "/",
    // A git folder that does not exist: git searches for none.
    env: { ...buildGitEnvironment(home), GIT_DIR: "/dev/null" },
    timeoutMs: CONFIG_TIMEOUT_MS,
    maxBytes: 4 * MAX_CONFIG_BYTES,
  });
  if (exitCode !== 0) throw new RepositoryError("failed", `${file} cannot be read: ${stderr.trim()}`);
  const values = new Map<string, string[]>();
  for (const record of stdout.toString("utf8").split("\0")) {
    const [key = "", ...rest] = record.split("\n");
    if (key === "") continue;
    // A key without a value is true.
    const value = rest.length === 0 ? "true" : rest.join("\n");
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return values;
}
