import type { Repository } from "../repository/repository.ts";
import { RepositoryError } from "../repository/repository-error.ts";
import { runProgram } from "../repository/run-program.ts";

// The git processes that write to a repository: objects, which have the name of their content, and one reference. Like the
// others, they read no configuration of the repository, so that no hook, filter, signer or monitor of its choice runs.

/** A killed git leaves its lock behind, so that it is not cancelled: these commands end in milliseconds. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

type WritingCommand = "write-tree" | "commit-tree" | "update-ref";

type WritingOptions = {
  readonly input?: string;
  /** Beside the environment of every git process. */
  readonly environment?: Readonly<Record<string, string>>;
};

export type WritingResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly stderr: string };

/** Runs a writing git; an exit code other than 0 is a result. */
export async function tryWritingGit(
  { git, top, environment, config }: Repository,
  args: readonly [WritingCommand, ...string[]],
  options: WritingOptions = {},
): Promise<WritingResult> {
  const logged = config.get("core.logallrefupdates")?.at(-1) ?? "true";
  const settings = /^(true|false|always)$/i.test(logged) ? ["-c", `core.logAllRefUpdates=${logged}`] : [];
  const { ending, exitCode, stdout, stderr } = await runProgram({
    command: git,
    args: ["--no-pager", ...settings, ...args],
    cwd: top,
    env: { ...environment, ...options.environment },
    input: options.input,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_OUTPUT_BYTES,
  });
  if (ending === "timed-out")
    throw new RepositoryError("timed-out", `git ${args[0]} did not end within ${TIMEOUT_MS / 1000} s`);
  return exitCode === 0 ? { ok: true, text: stdout.toString("utf8").trim() } : { ok: false, stderr };
}

/** The same; rejects with a `RepositoryError` that has git's message. */
export async function runWritingGit(
  repository: Repository,
  args: readonly [WritingCommand, ...string[]],
  options: WritingOptions = {},
): Promise<string> {
  const result = await tryWritingGit(repository, args, options);
  if (result.ok) return result.text;
  throw toWritingError(args[0], result.stderr);
}

export function toWritingError(command: WritingCommand, stderr: string): RepositoryError {
  const message = stderr.trim().split("\n").at(-1) ?? "";
  return new RepositoryError("failed", `git ${command} failed: ${message.slice(0, 300)}`);
}
