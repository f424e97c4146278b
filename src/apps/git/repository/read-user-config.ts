import { homedir } from "node:os";
import { buildGitEnvironment } from "./git-environment.ts";
import { findGit } from "./read-config.ts";
import type { Repository } from "./repository.ts";
import { RepositoryError } from "./repository-error.ts";
import { runProgram } from "./run-program.ts";

/** The variables of a user's process, which say where their settings are. */
export type UserEnvironment = Readonly<Record<string, string | undefined>>;

export type UserSetting = {
  /** Where it is from: `system`, `global`, `local` or `worktree`. */
  readonly scope: string;
  readonly key: string;
  readonly value: string;
};

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1024 * 1024;

/**
 * Reads settings as the user's own git would, with includes and their conditions; the strongest comes last. Git only lists
 * them: it knows the git folder, for the conditions, and applies none of its settings.
 *
 * @param pattern - A regular expression of keys, in lower case.
 * @param from - `user`: the settings of the repository are left out. Only a trusted repository may be asked for `all`.
 */
export async function readUserConfig(
  { top, gitFolder }: Repository,
  pattern: string,
  from: "user" | "all",
  environment: UserEnvironment,
): Promise<readonly UserSetting[]> {
  const {
    GIT_CONFIG_GLOBAL: _,
    GIT_CONFIG_SYSTEM: __,
    GIT_CONFIG_NOSYSTEM: ___,
    ...safe
  } = buildGitEnvironment(environment["HOME"] ?? homedir());
  const own = ["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"].flatMap(
    (name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value] as const];
    },
  );
  const scope = from === "user" ? ["--global"] : [];
  const { exitCode, stdout, stderr } = await runProgram({
    command: findGit(top),
    args: ["config", ...scope, "--includes", "--show-scope", "--null", "--get-regexp", pattern],
    cwd: top,
    env: { ...safe, ...Object.fromEntries(own), GIT_DIR: gitFolder },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  // 1: there is no such setting.
  if (exitCode !== 0 && exitCode !== 1) {
    const reason = stderr.trim().slice(0, 300);
    throw new RepositoryError(
      "failed",
      `Your git settings cannot be read: ${reason}. Mend them, and try again`,
    );
  }
  const records = stdout.toString("utf8").split("\0").slice(0, -1);
  return records.flatMap((record, at) => {
    if (at % 2 === 0) return [];
    const [key = "", ...value] = record.split("\n");
    return [{ scope: records[at - 1] ?? "", key, value: value.join("\n") }];
  });
}
