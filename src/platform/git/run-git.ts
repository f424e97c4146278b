import { execFile } from "node:child_process";
import { buildCleanEnvironment } from "../process/clean-environment.ts";
import { omitUndefined } from "../text/omit-undefined.ts";

// Runs git without letting it run other programs: an agent can write to its workspace, including the repository's
// configuration. Hooks and file watchers are off, and git does not receive this process's keys.

export class GitError extends Error {
  override readonly name = "GitError";
}

export type GitOptions = {
  /** A separate index, used instead of the repository's. */
  readonly index?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
};

const SAFE_OPTIONS = [
  ...["-c", "core.hooksPath=/dev/null"],
  ...["-c", "core.fsmonitor=false"],
  ...["-c", "advice.addEmbeddedRepo=false"],
  ...["-c", "gc.auto=0"],
] as const;

/** Author and committer of Holdfast's commits. */
const COMMIT_IDENTITY = {
  GIT_AUTHOR_NAME: "Holdfast",
  GIT_AUTHOR_EMAIL: "holdfast@localhost",
  GIT_COMMITTER_NAME: "Holdfast",
  GIT_COMMITTER_EMAIL: "holdfast@localhost",
} as const;

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

/** Runs git and returns its output. Throws `GitError` with git's message. */
export async function runGit(
  folder: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string> {
  const { index, signal, timeoutMs = TIMEOUT_MS } = options;
  const env = {
    ...buildCleanEnvironment("git"),
    ...COMMIT_IDENTITY,
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    LC_ALL: "C",
    ...omitUndefined({ GIT_INDEX_FILE: index }),
  };
  return await new Promise((resolve, reject) => {
    execFile(
      "git",
      [...SAFE_OPTIONS, "-C", folder, ...args],
      { env, timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES, ...omitUndefined({ signal }) },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new GitError(describeFailure(args[0] ?? "", error, stderr, timeoutMs)));
      },
    );
  });
}

/** Runs git; a failure is a valid answer and returns undefined. */
export async function tryGit(
  folder: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string | undefined> {
  return await runGit(folder, args, options).catch((error: unknown) => {
    if (error instanceof GitError && options.signal?.aborted !== true) return undefined;
    throw error;
  });
}

type ExecError = Error & { readonly code?: string | number | null; readonly killed?: boolean };

function describeFailure(command: string, error: ExecError, stderr: string, timeoutMs: number): string {
  if (error.code === "ENOENT") return "git is not installed on this machine";
  if (error.name === "AbortError" || error.killed === true)
    return `git ${command} took longer than ${timeoutMs / 1000} s`;
  const message = stderr.trim().split("\n").at(-1) ?? "";
  return `git ${command} failed: ${message === "" ? error.message : message}`.slice(0, 300);
}
