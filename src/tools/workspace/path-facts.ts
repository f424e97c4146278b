import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type CallFacts, limitFacts, type PathFact } from "../../core/permission/call-facts.ts";
import { hasCode } from "./system-error.ts";
import { isWithin } from "./workspace-access.ts";

// The facts of calls that name files. This is for judging a call before it runs; what keeps a tool in the workspace
// when it runs is src/tools/workspace.

/** The same bound as the kernel's own. */
const MAX_LINKS = 40;

/** What the paths of a call stand for, by real path. Relative ones begin at the workspace, as for the file tools. */
export async function collectPathFacts(paths: readonly string[], workspace: string): Promise<CallFacts> {
  return limitFacts({ paths: await Promise.all(paths.map((path) => resolvePathFact(path, workspace))) });
}

/** A path that cannot be followed to its end is not in the workspace. */
export async function resolvePathFact(path: string, workspace: string, from = workspace): Promise<PathFact> {
  const absolute = resolve(from, path);
  try {
    const root = await realpath(workspace);
    const real = await resolveRealPath(absolute, MAX_LINKS);
    if (!isWithin(root, real)) return { path: real, inside: false };
    return { path: real, inside: true, relative: relative(root, real) || "." };
  } catch {
    return { path: absolute, inside: false };
  }
}

/** Also of a path that does not exist yet: where it would be made. */
async function resolveRealPath(path: string, links: number): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT") || links === 0) throw error;
  }
  // A link to nothing makes its target when it is written to.
  const target = await readLinkTarget(path);
  const folder = await resolveRealPath(dirname(path), links);
  if (target === undefined) return join(folder, basename(path));
  if (hasParentSegment(target))
    throw new Error("a link that steps back out of a folder, and leads to nothing");
  return resolveRealPath(resolve(folder, target), links - 1);
}

/** Where `..` follows a name: when that is a link, the system goes back from where it leads to, words do not. */
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
