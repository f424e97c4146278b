import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** The folder of a suite file, which the paths in it are relative to. */
export type SuiteFolder = {
  /** Absolute. */
  readonly path: string;
  /** How problems name it; empty for the current folder. */
  readonly displayName: string;
  /** The suite comes from an untrusted source: it may use files of its own folder only, and no modules. */
  readonly untrusted: boolean;
};

export function createSuiteFolder(file: string, cwd: string, untrusted: boolean): SuiteFolder {
  return { path: resolve(cwd, dirname(file)), displayName: dirname(file), untrusted };
}

/** Returns the folder of a file, to which the paths in that file are relative. */
export function getFolderOf(folder: SuiteFolder, file: string): SuiteFolder {
  return {
    ...folder,
    path: dirname(resolve(folder.path, file)),
    displayName: dirname(displayPath(folder, file)),
  };
}

/** Returns a path as problems name it: relative to where the suite file's own name is. */
export function displayPath({ displayName }: SuiteFolder, path: string): string {
  return isAbsolute(path) ? path : join(displayName, path);
}

/** Explains why the suite must not use a file, or returns `undefined`. Symbolic links do not lead out of the folder. */
export function explainForbiddenPath(
  { path: folder, untrusted }: SuiteFolder,
  path: string,
): string | undefined {
  if (!untrusted) return undefined;
  const message = `${path} is not in the folder of the suite file, which an untrusted suite must not leave`;
  if (!isWithin(folder, resolve(folder, path))) return message;
  try {
    return isWithin(realpathSync(folder), realpathSync(resolve(folder, path))) ? undefined : message;
  } catch {
    // A file that does not exist is another problem.
    return undefined;
  }
}

function isWithin(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

/** Explains why a path is no regular file, or returns `undefined`. */
export function explainMissingFile(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return "there is no such file";
  if (stat.isDirectory()) return "it is a folder";
  return stat.isFile() ? undefined : "it is not a regular file, but a pipe, a socket or a device";
}
