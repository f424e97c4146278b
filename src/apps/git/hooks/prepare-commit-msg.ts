import { chmod, link, lstat, mkdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isWithin } from "../repository/is-within.ts";
import { readUserConfig, type UserEnvironment } from "../repository/read-user-config.ts";
import type { Repository } from "../repository/repository.ts";
import { isOwnHook, writeHookScript } from "./hook-script.ts";

const NAME = "prepare-commit-msg";

export type HookResult =
  | { readonly type: "installed" | "replaced" | "removed" | "absent"; readonly file: string }
  | {
      readonly type: "refused";
      readonly reason: "untrusted" | "foreign-hook" | "shared-folder";
      /** What happened, and what to do. */
      readonly message: string;
    };

/**
 * Installs the hook that begins commit messages, where the user's git looks for it. A hook of somebody else stays.
 *
 * @param command - The program that prints a message, and its arguments. Git runs it in the repository; `GIT_INDEX_FILE`
 *   names the index that will be committed.
 */
export async function installHook(
  repository: Repository,
  command: readonly [string, ...string[]],
  environment: UserEnvironment = process.env,
): Promise<HookResult> {
  const found = await findHook(repository, environment);
  if (found.type === "refused") return found;
  const { file, owner } = found;
  if (owner === "foreign") {
    return refuse(
      "foreign-hook",
      `${file} is another hook, or was changed, and stays as it is. Remove it, or add this command to it: ${command.join(" ")}`,
    );
  }
  await mkdir(dirname(file), { recursive: true });
  const next = `${file}.holdfast-${process.pid}`;
  try {
    await writeFile(next, writeHookScript(command));
    await chmod(next, 0o755);
    // A link fails if somebody has made a hook in the meantime.
    if (owner === "none") await link(next, file);
    else await rename(next, file);
  } finally {
    await rm(next, { force: true });
  }
  return { type: owner === "none" ? "installed" : "replaced", file };
}

/** Removes the hook if it is the one that Holdfast has installed. */
export async function removeHook(
  repository: Repository,
  environment: UserEnvironment = process.env,
): Promise<HookResult> {
  const found = await findHook(repository, environment);
  if (found.type === "refused") return found;
  const { file, owner } = found;
  if (owner === "none") return { type: "absent", file };
  if (owner === "foreign") {
    return refuse(
      "foreign-hook",
      `${file} is not the hook that Holdfast installs, or was changed, and stays. Remove it yourself if you no longer need it.`,
    );
  }
  await rm(file);
  return { type: "removed", file };
}

type FoundHook = {
  readonly type: "found";
  readonly file: string;
  readonly owner: "none" | "holdfast" | "foreign";
};

async function findHook(
  repository: Repository,
  environment: UserEnvironment,
): Promise<FoundHook | Extract<HookResult, { type: "refused" }>> {
  const { top, commonFolder, isTrusted } = repository;
  if (!isTrusted) {
    return refuse(
      "untrusted",
      `${top} is not trusted, so that its hooks are left alone. Trust the repository first.`,
    );
  }
  const setting = (await readUserConfig(repository, "^core\\.hookspath$", "all", environment)).at(-1);
  const folder =
    setting === undefined
      ? join(commonFolder, "hooks")
      : resolve(top, expandHome(setting.value, environment["HOME"]));
  const real = await findRealPath(folder);
  if (!isWithin(commonFolder, real) && !isWithin(top, real)) {
    const scope = setting === undefined ? "" : ` (core.hooksPath, ${setting.scope} settings)`;
    return refuse(
      "shared-folder",
      `Git takes the hooks of this repository from ${folder}${scope}, which other repositories may share. Run "git config core.hooksPath ${join(commonFolder, "hooks")}" to give it hooks of its own.`,
    );
  }
  const file = join(folder, NAME);
  const stats = await lstat(file).catch(() => undefined);
  if (stats === undefined) return { type: "found", file, owner: "none" };
  const isOwn = stats.isFile() && isOwnHook(await readFile(file, "utf8"));
  return { type: "found", file, owner: isOwn ? "holdfast" : "foreign" };
}

function refuse(
  reason: Extract<HookResult, { type: "refused" }>["reason"],
  message: string,
): Extract<HookResult, { type: "refused" }> {
  return { type: "refused", reason, message };
}

function expandHome(path: string, home: string | undefined): string {
  return home !== undefined && /^~(\/|$)/.test(path) ? join(home, path.slice(1)) : path;
}

/** Returns the real path of a folder, or the one that it will have. */
async function findRealPath(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await findRealPath(dirname(path)), path.slice(dirname(path).length));
}
