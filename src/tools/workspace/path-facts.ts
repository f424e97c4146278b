import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type CallFacts, limitFacts, type PathFact } from "../../core/permission/call-facts.ts";
import { hasCode } from "./system-error.ts";
import { isWithin } from "./workspace-access.ts";

// Collects the facts of calls that name files. These judge a call before it runs; the other files in
// src/tools/workspace keep a running tool in the workspace.

/** The kernel's own limit. */
const MAX_LINKS = 40;

/** Resolves the paths of a call to real paths. Relative paths start at the workspace, as for the file tools. */
export async function collectPathFacts(paths: readonly string[], workspace: string): Promise<CallFacts> {
  return limitFacts({ paths: await Promise.all(paths.map((path) => resolvePathFact(path, workspace))) });
}

/** Resolves one path. A path that cannot be resolved completely is not in the workspace. */
export async function resolvePathFact(path: string, workspace: string, from = workspace): Promise<PathFact> {
  const absolute = resolve(from, path);
  try {
    const root = await realpath(workspace);
    const real = await resolveRealPath(absolute, MAX_LINKS);
    if (!isWithin(root, real)) return { path: real, isInWorkspace: false };
    return { path: real, isInWorkspace: true, relative: relative(root, real) || "." };
  } catch {
    return { path: absolute, isInWorkspace: false };
  }
}

/** Resolves a real path, also of a path that does not exist yet: the location where it would be created. */
async function resolveRealPath(path: string, links: number): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT") || links === 0) throw error;
  }
  // Writing to a dangling link creates the link's target.
  const target = await readLinkTarget(path);
  const folder = await resolveRealPath(dirname(path), links);
  if (target === undefined) return join(folder, basename(path));
  if (hasParentSegment(target))
    throw new Error("a link that steps back out of a folder, and leads to nothing");
  return resolveRealPath(resolve(folder, target), links - 1);
}

/** Returns whether `..` follows a name. If that name is a link, the system goes up from the link's target. */
export function hasParentSegment(path: string): boolean {
  return /(^|\/)(?!\.{1,2}\/)[^/]+\/+(\.\/+)*\.\.(\/|$)/.test(path);
}

async function readLinkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
