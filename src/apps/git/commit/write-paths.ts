import { lstat, mkdir, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Repository } from "../repository/repository.ts";
import { RepositoryError } from "../repository/repository-error.ts";

/**
 * Throws if a file that a commit writes is reached by a link. Git follows links when it appends to a log: a stranger's
 * repository could have it append to any file of the user's.
 */
export async function checkWritePaths(
  { top, gitFolder, commonFolder }: Repository,
  branch: string | null,
): Promise<void> {
  const files = [[gitFolder, "HEAD"] as const, [gitFolder, "logs/HEAD"] as const];
  const ofBranch =
    branch === null ? [] : [[commonFolder, branch] as const, [commonFolder, `logs/${branch}`] as const];
  for (const [folder, path] of [...files, ...ofBranch]) {
    const steps = path.split("/");
    for (const at of steps.keys()) {
      const part = join(folder, ...steps.slice(0, at + 1));
      if ((await lstat(part).catch(() => undefined))?.isSymbolicLink() !== true) continue;
      throw new RepositoryError(
        "unsafe",
        `Nothing is committed to ${top}: ${part} is a link, and git would write where it leads. Replace it by what it names.`,
      );
    }
  }
}

/** Lets git log to the repository: references to the common folder, and HEAD to that of the work tree. */
export async function linkLogs({ environment, gitFolder, commonFolder, config }: Repository): Promise<void> {
  const logs = join(environment["GIT_DIR"] ?? "", "logs");
  await rm(logs, { recursive: true, force: true });
  await mkdir(logs);
  if (config.get("core.logallrefupdates")?.at(-1)?.toLowerCase() === "false") return;
  for (const [from, to] of [
    [join(commonFolder, "logs", "refs"), join(logs, "refs")],
    [join(gitFolder, "logs", "HEAD"), join(logs, "HEAD")],
  ] as const) {
    await mkdir(to.endsWith("HEAD") ? dirname(from) : from, { recursive: true });
    await symlink(from, to);
  }
}
