import { rm } from "node:fs/promises";
import { join } from "node:path";
import { checkBorders } from "./check-borders.ts";
import { findGitFolder, type GitFolders } from "./find-git-folder.ts";
import { buildGitEnvironment } from "./git-environment.ts";
import { createIsolatedGitFolder } from "./isolated-git-folder.ts";
import { findGit, type GitConfig, readConfigFile } from "./read-config.ts";

/** A repository while it is open. Git runs on it through `runGit`. */
export type Repository = GitFolders & {
  /** The repository's own settings, as data: none of them has an effect. */
  readonly config: GitConfig;
  readonly isTrusted: boolean;
  /** The path of git. */
  readonly git: string;
  /** The environment of git's processes. */
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
};

export type OpenOptions = {
  /** Whether a user trusts the repository; see `TrustStore`. A foreign one by default. */
  readonly isTrusted?: boolean;
  /** Another index than the repository's own: git gives a hook one (`GIT_INDEX_FILE`). */
  readonly index?: string | undefined;
  /** Ends all git processes. */
  readonly signal?: AbortSignal | undefined;
};

/** Opens the repository that contains a folder, for the time of `work`. Nothing of the repository's making runs. */
export async function withRepository<Result>(
  folder: string,
  options: OpenOptions,
  work: (repository: Repository) => Promise<Result>,
): Promise<Result> {
  const { isTrusted = false, signal } = options;
  const folders = await findGitFolder(folder);
  if (!isTrusted) await checkBorders(folders);
  const config = await readConfigFile(join(folders.commonFolder, "config"), folders.top);
  const { index = join(folders.gitFolder, "index") } = options;
  const isolated = await createIsolatedGitFolder(folders, config, index);
  try {
    const environment = {
      ...buildGitEnvironment(isolated),
      GIT_DIR: isolated,
      GIT_WORK_TREE: folders.top,
      GIT_OBJECT_DIRECTORY: join(folders.commonFolder, "objects"),
    };
    return await work({ ...folders, config, isTrusted, git: findGit(folders.top), environment, signal });
  } finally {
    await rm(isolated, { recursive: true, force: true });
  }
}
