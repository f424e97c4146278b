import { lstat, readdir, readFile, readlink, rename, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findProtectedPaths } from "./find-protected-paths.ts";
import { createPresenceCheck } from "./presence.ts";

// A path that does not exist cannot be mounted read-only: the mount would create it. So a command in a sandbox can create a
// file that programs outside obey. What it has created is moved aside when it ends, and nothing is deleted.

/** What a command has created although it may not, and where it was moved. */
export type DeniedPath = { readonly path: string; readonly movedTo: string };

/** What could not be mounted before a command. */
export type UnmountedPaths = {
  readonly missing: readonly string[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Folders that had no repository: one that the command creates may have a harmless configuration. */
  readonly withoutRepository: readonly string[];
};

/** Finds the paths of writable folders that a sandbox must protect, and those that it cannot. */
export async function findPathsToProtect(
  folders: readonly string[],
): Promise<{ readonly protectedPaths: readonly string[]; readonly unmounted: UnmountedPaths }> {
  const found = await Promise.all(folders.map(findProtectedPaths));
  const links = found
    .flatMap((one) => one.links)
    .map(async (path) => ({ path, target: await readlink(path).catch(() => "") }));
  const repositories = await Promise.all(folders.map(async (folder) => await exists(join(folder, ".git"))));
  return {
    protectedPaths: found.flatMap((one) => one.protectedPaths),
    unmounted: {
      missing: found.flatMap((one) => one.missing),
      links: await Promise.all(links),
      withoutRepository: folders.filter((_, index) => repositories[index] === false),
    },
  };
}

/** Moves aside what a command has created or replaced since. Returns what was moved. */
export async function moveDeniedPaths(before: UnmountedPaths): Promise<readonly DeniedPath[]> {
  const denied: DeniedPath[] = [];
  const mayExist = createPresenceCheck();
  for (const path of before.missing) {
    if (!(await mayExist(path)) || !(await exists(path)) || (await isHarmless(path, before))) continue;
    denied.push(await moveAside(path));
  }
  for (const { path, target } of before.links) {
    if ((await readlink(path).catch(() => undefined)) === target) continue;
    if (await exists(path)) denied.push(await moveAside(path));
    await symlink(target, path).catch(() => {});
  }
  return denied;
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/** The most copies of one name in a folder. */
const MAX_COPIES = 1_000;

async function moveAside(path: string): Promise<DeniedPath> {
  for (let copy = 1; copy <= MAX_COPIES; copy += 1) {
    const movedTo = `${path}.denied${copy === 1 ? "" : `-${copy}`}`;
    if (await exists(movedTo)) continue;
    await rename(path, movedTo);
    return { path, movedTo };
  }
  throw new Error(`${path} cannot be moved aside: there are ${MAX_COPIES} copies`);
}

/** `git init` in a folder without a repository creates hooks that do not run and a configuration that runs nothing. */
async function isHarmless(path: string, { withoutRepository }: UnmountedPaths): Promise<boolean> {
  const folder = withoutRepository.find((one) => dirname(path) === join(one, ".git"));
  if (folder === undefined) return false;
  if (path.endsWith("/hooks")) {
    const names = await readdir(path).catch(() => undefined);
    return names?.every((name) => name.endsWith(".sample")) === true;
  }
  if (!path.endsWith("/config")) return false;
  const facts = await lstat(path).catch(() => undefined);
  if (facts?.isFile() !== true || facts.size > MAX_CONFIG_BYTES) return false;
  return isHarmlessConfig(await readFile(path, "utf8").catch(() => "["));
}

const MAX_CONFIG_BYTES = 64 * 1024;

/** Keys that run no program and read no other file, by section. */
const HARMLESS_KEYS: Readonly<Record<string, readonly string[]>> = {
  core: [
    "repositoryformatversion",
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
  ],
  user: ["name", "email"],
  init: ["defaultbranch"],
  branch: ["remote", "merge"],
};

/** Returns whether git runs nothing because of a configuration. Whatever is not known to be harmless is not. */
function isHarmlessConfig(text: string): boolean {
  let section = "";
  for (const line of text.split("\n")) {
    if (/^\s*(?:[#;].*)?$/.test(line)) continue;
    const heading = /^\s*\[\s*([A-Za-z]+)(?:\s+"[^"\\]*")?\s*\]\s*$/.exec(line);
    if (heading?.[1] !== undefined) {
      section = heading[1].toLowerCase();
      continue;
    }
    const key = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=[^\\]*)?$/.exec(line)?.[1]?.toLowerCase();
    if (key === undefined || HARMLESS_KEYS[section]?.includes(key) !== true) return false;
  }
  return true;
}
