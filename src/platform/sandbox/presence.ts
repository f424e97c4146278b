import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** Returns whether a path may exist. If not, it did not exist when its folder was listed. */
export type PresenceCheck = (path: string) => Promise<boolean>;

/**
 * Creates a check that lists each folder once, which takes a tenth of the time of a look at each of its possible files. What
 * cannot be listed may contain everything.
 */
export function createPresenceCheck(): PresenceCheck {
  const folders = new Map<string, Promise<ReadonlySet<string> | undefined>>();
  return async (path) => {
    const folder = dirname(path);
    const names = folders.get(folder) ?? listNames(folder);
    folders.set(folder, names);
    return (await names)?.has(fold(basename(path))) ?? true;
  };
}

async function listNames(folder: string): Promise<ReadonlySet<string> | undefined> {
  try {
    return new Set((await readdir(folder)).map(fold));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? new Set() : undefined;
  }
}

/** Some file systems do not distinguish upper and lower case. */
function fold(name: string): string {
  return name.toLowerCase();
}
