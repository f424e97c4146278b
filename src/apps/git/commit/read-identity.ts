import { homedir } from "node:os";
import { buildGitEnvironment } from "../repository/git-environment.ts";
import { findGit } from "../repository/read-config.ts";
import type { Repository } from "../repository/repository.ts";
import { RepositoryError } from "../repository/repository-error.ts";
import { runProgram } from "../repository/run-program.ts";

export type Identity = { readonly name: string; readonly email: string };

export type IdentityResult =
  | { readonly type: "known"; readonly identity: Identity }
  /** `message` says what to do. */
  | { readonly type: "missing"; readonly message: string };

type Environment = Readonly<Record<string, string | undefined>>;

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1024 * 1024;

/**
 * Reads who the user is, in git's order: the environment, the repository's settings, those of the user. The repository's are
 * read as data.
 *
 * @param environment - The user's: it says where their settings are.
 */
export async function readIdentity(
  repository: Repository,
  role: "author" | "committer" = "committer",
  environment: Environment = process.env,
): Promise<IdentityResult> {
  const own = await readUserSettings(repository, environment);
  const find = (field: "name" | "email") => {
    const named = environment[`GIT_${role.toUpperCase()}_${field.toUpperCase()}`];
    const keys = [`${role}.${field}`, `user.${field}`];
    const values = keys.flatMap((key) => [repository.config.get(key)?.at(-1), own.get(key)]);
    return [named, ...values].find((value) => value !== undefined && value.trim() !== "");
  };
  const [name, email] = [find("name"), find("email")];
  if (name !== undefined && email !== undefined) return { type: "known", identity: { name, email } };
  const missing = [
    ...(name === undefined ? ['git config --global user.name "Your Name"'] : []),
    ...(email === undefined ? ['git config --global user.email "you@example.com"'] : []),
  ];
  const message = `Git does not know who you are, so that no commit is made. Run: ${missing.join(" && ")}`;
  return { type: "missing", message };
}

/**
 * Reads the user's own settings with their includes. Conditions of includes ask for the git folder; git reads the format
 * of that folder, and applies none of its settings.
 */
async function readUserSettings(
  { top, gitFolder }: Repository,
  environment: Environment,
): Promise<ReadonlyMap<string, string>> {
  const copied = ["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"].flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const { GIT_CONFIG_GLOBAL: _, ...safe } = buildGitEnvironment(environment["HOME"] ?? homedir());
  const { exitCode, stdout, stderr } = await runProgram({
    command: findGit(top),
    args: [
      "config",
      "--global",
      "--includes",
      "--null",
      "--get-regexp",
      "^(user|author|committer)\\.(name|email)$",
    ],
    cwd: "/",
    env: { ...safe, ...Object.fromEntries(copied), GIT_DIR: gitFolder },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  // 1: no such setting.
  if (exitCode !== 0 && exitCode !== 1)
    throw new RepositoryError("failed", `Your git settings cannot be read: ${stderr.trim().slice(0, 300)}`);
  const records = stdout
    .toString("utf8")
    .split("\0")
    .filter((record) => record !== "");
  return new Map(
    records.map((record) => {
      const at = record.indexOf("\n");
      return [record.slice(0, at), record.slice(at + 1)] as const;
    }),
  );
}
