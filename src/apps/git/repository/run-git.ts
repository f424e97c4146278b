import type { Repository } from "./repository.ts";
import { RepositoryError } from "./repository-error.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";

// Every git process of the application starts here, on a repository that `withRepository` has opened.
//
// No argument from outside may become an option: revisions are resolved to object ids first (`resolveCommit`), and paths
// follow "--", where the environment makes patterns of them impossible.

export type GitOptions = {
  readonly timeoutMs?: number;
  /** The most output. */
  readonly maxBytes?: number;
  readonly input?: string;
  /** Receives the output, which is then not collected. Git is killed when it returns "enough". */
  readonly onChunk?: (chunk: Buffer) => "more" | "enough";
};

export type GitOutput = {
  readonly stdout: Buffer;
  /** Whether git was killed because its output was enough, or more than the limit. */
  readonly isCut: boolean;
};

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

/** The commands that only read what is there, without a network or a program of someone else. */
type GitCommand =
  | "blame"
  | "cat-file"
  | "diff"
  | "hash-object"
  | "log"
  | "ls-files"
  | "ls-tree"
  | "merge-base"
  | "rev-list"
  | "rev-parse"
  | "show"
  | "status"
  | "symbolic-ref";

/** Runs git and returns its output. Rejects with a `RepositoryError` that has git's message. */
export async function runGit(
  repository: Repository,
  args: readonly [GitCommand, ...string[]],
  options: GitOptions = {},
): Promise<GitOutput> {
  const { result, timeoutMs } = await start(repository, args, options);
  if (result.ending === "stopped") return { stdout: result.stdout, isCut: true };
  if (result.exitCode === 0) return { stdout: result.stdout, isCut: false };
  throw toError(args[0], result, timeoutMs);
}

/** Runs git and returns its output as text; an exit code other than 0 is an answer too, and returns undefined. */
export async function tryGit(
  repository: Repository,
  args: readonly [GitCommand, ...string[]],
  options: GitOptions = {},
): Promise<string | undefined> {
  const { result, timeoutMs } = await start(repository, args, options);
  if (result.ending === "timed-out" || result.ending === "cancelled")
    throw toError(args[0], result, timeoutMs);
  return result.exitCode === 0 ? result.stdout.toString("utf8") : undefined;
}

async function start(
  { git, top, environment, signal }: Repository,
  args: readonly string[],
  { timeoutMs = TIMEOUT_MS, maxBytes = MAX_OUTPUT_BYTES, input, onChunk }: GitOptions,
): Promise<{ result: ProgramResult; timeoutMs: number }> {
  const request = { command: git, args: ["--no-pager", ...args], cwd: top, env: environment };
  const result = await runProgram({ ...request, signal, timeoutMs, maxBytes, input, onChunk });
  return { result, timeoutMs };
}

function toError(command: string, { ending, stderr }: ProgramResult, timeoutMs: number): RepositoryError {
  if (ending === "cancelled") return new RepositoryError("cancelled", "Cancelled");
  if (ending === "timed-out") {
    return new RepositoryError(
      "timed-out",
      `git ${command} did not end within ${timeoutMs / 1000} s; ask for less`,
    );
  }
  const message = stderr.trim().split("\n").at(-1) ?? "";
  return new RepositoryError("failed", `git ${command} failed: ${message.slice(0, 300)}`);
}
