import { constants } from "node:fs";
import { open } from "node:fs/promises";
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

/** Configurations that were parsed lately, by their text. */
const parsed = new Map<string, GitConfig>();
const MAX_PARSED = 32;

/** Reads a configuration file as data: git parses it, follows none of its includes, and applies none of its settings. */
export async function readConfigFile(file: string, top: string): Promise<GitConfig> {
  const text = await readFileOf(file);
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const config = text === "" ? new Map() : await parseConfig(text, file, top);
  if (parsed.size >= MAX_PARSED) parsed.clear();
  parsed.set(text, config);
  return config;
}

/** Reads the file; a missing one is empty. Neither a link nor a pipe is a configuration. */
async function readFileOf(file: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw new RepositoryError("unsafe", `${file} cannot be opened as a regular file`, { cause: error });
    },
  );
  if (handle === undefined) return "";
  try {
    const stats = await handle.stat();
    if (stats.isFile() && stats.size <= MAX_CONFIG_BYTES) return await handle.readFile("utf8");
    throw new RepositoryError("unsafe", `${file} is no regular file of at most ${MAX_CONFIG_BYTES} bytes`);
  } finally {
    await handle.close();
  }
}

async function parseConfig(text: string, file: string, top: string): Promise<GitConfig> {
  const { exitCode, stdout, stderr } = await runProgram({
    command: findGit(top),
    args: ["config", "--file", "-", "--no-includes", "--null", "--list"],
    cwd: "/",
    // A git folder that does not exist: git searches for none.
    env: { ...buildGitEnvironment(tmpdir()), GIT_DIR: "/dev/null" },
    input: text,
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
