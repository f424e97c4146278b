import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ToolError } from "../tool-execution.ts";
import { describeSystemError, hasCode, PathError } from "./system-error.ts";

// Invariants
//   C1. Every file that is handed out was opened first and then found in the workspace by its real path.
//   C2. Names are resolved below an open folder (`/proc/self/fd/N/name`), never by a path that was checked
//       before: swapping a parent for a symbolic link in between has no effect.
//
// Linux does not let Node close two gaps: a checked folder may be moved out of the workspace while it is open,
// and a hard link in the workspace may share its content with a file outside. Both require a process that may
// already write in both locations; use a sandbox against that. Other systems have no /proc/self/fd: the real
// path is checked before the open and the identity of the file after it. Between a folder's check and its use
// a swap is possible there.

const HAS_OPEN_FILES = existsSync("/proc/self/fd");

/** Opens a name without opening the file behind it: no device, lock or waiting reader is disturbed. Linux only. */
const O_PATH = 0o10000000;

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

export type WorkspaceRoot = {
  /** The path as the caller names it. */
  readonly path: string;
  readonly realPath: string;
};

/** A folder in the workspace that stays open until `close`. */
export type OpenFolder = {
  readonly handle: FileHandle;
  readonly realPath: string;
  /** Returns a path to the name in this very folder, or to the folder itself. */
  readonly getPath: (name?: string) => string;
};

export async function openRoot(workspace: string): Promise<WorkspaceRoot> {
  try {
    const realPath = await realpath(workspace);
    if (!(await stat(realPath)).isDirectory()) throw new PathError("it is not a directory");
    return { path: resolve(workspace), realPath };
  } catch (error) {
    const reason = hasCode(error, "ENOENT") ? "it does not exist" : describeSystemError(error);
    throw new ToolError("failed", `Cannot use the workspace ${workspace}: ${reason}`, { cause: error });
  }
}

/** Resolves a path from the model to an absolute path. Rejects a path whose text alone leads outside. */
export function resolvePath(root: WorkspaceRoot, path: string): string {
  if (path.includes("\0")) throw new ToolError("invalid-arguments", "path: must not contain a NUL character");
  const absolute = resolve(root.path, path);
  if (!isWithin(root.path, absolute) && !isWithin(root.realPath, absolute))
    throw createOutsideError(root, path);
  return absolute;
}

/** Opens a regular file for reading. Never waits for a FIFO and never touches a device. */
export async function openFile(
  root: WorkspaceRoot,
  path: string,
): Promise<{ handle: FileHandle; realPath: string }> {
  const absolute = resolvePath(root, path);
  const probe = await open(absolute, HAS_OPEN_FILES ? O_PATH : O_RDONLY | O_NONBLOCK);
  try {
    const realPath = await readRealPath(probe, absolute);
    if (!isWithin(root.realPath, realPath)) throw createOutsideError(root, path);
    assertRegularFile(await probe.stat());
    if (!HAS_OPEN_FILES) return { handle: probe, realPath };
    const handle = await open(`/proc/self/fd/${probe.fd}`, O_RDONLY | O_NONBLOCK);
    return { handle, realPath };
  } catch (error) {
    if (!HAS_OPEN_FILES) await probe.close();
    throw error;
  } finally {
    if (HAS_OPEN_FILES) await probe.close();
  }
}

/** Opens a folder. With `create`, creates each missing folder below its open parent. */
export async function openFolder(
  root: WorkspaceRoot,
  path: string,
  options: { create?: boolean } = {},
): Promise<OpenFolder> {
  const absolute = resolvePath(root, path);
  try {
    return await openChecked(root, path, absolute, await open(absolute, O_RDONLY | O_DIRECTORY));
  } catch (error) {
    if (options.create !== true || !hasCode(error, "ENOENT") || dirname(absolute) === absolute) throw error;
  }
  const parent = await openFolder(root, dirname(absolute), options);
  try {
    const name = parent.getPath(basename(absolute));
    await mkdir(name).catch((error: unknown) => {
      if (!hasCode(error, "EEXIST")) throw error;
    });
    return await openChecked(root, path, name, await open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  } finally {
    await parent.handle.close();
  }
}

/** Resolves the target of a symbolic link in an open folder. The target must be in the workspace. */
export async function followLink(root: WorkspaceRoot, path: string, link: string): Promise<string> {
  const probe = await open(link, HAS_OPEN_FILES ? O_PATH : O_RDONLY | O_NONBLOCK);
  try {
    const realPath = await readRealPath(probe, link);
    if (!isWithin(root.realPath, realPath)) throw createOutsideError(root, path);
    return realPath;
  } finally {
    await probe.close();
  }
}

export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

export function assertRegularFile(found: { isFile(): boolean; isDirectory(): boolean }): void {
  if (found.isDirectory()) throw new PathError("it is a directory");
  if (!found.isFile()) throw new PathError("it is not a regular file");
}

async function openChecked(
  root: WorkspaceRoot,
  path: string,
  opened: string,
  handle: FileHandle,
): Promise<OpenFolder> {
  try {
    const realPath = await readRealPath(handle, opened);
    if (!isWithin(root.realPath, realPath)) throw createOutsideError(root, path);
    // Also valid as a child process's working directory: the child has a copy of the descriptor until it executes.
    const base = HAS_OPEN_FILES ? `/proc/self/fd/${handle.fd}` : realPath;
    return { handle, realPath, getPath: (name) => (name === undefined ? base : join(base, name)) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readRealPath(handle: FileHandle, path: string): Promise<string> {
  if (HAS_OPEN_FILES) return readlink(`/proc/self/fd/${handle.fd}`);
  const realPath = await realpath(path);
  const [opened, named] = [await handle.stat(), await lstat(realPath)];
  if (opened.dev !== named.dev || opened.ino !== named.ino) {
    throw new PathError("it changed while it was being opened");
  }
  return realPath;
}

function createOutsideError(root: WorkspaceRoot, path: string): ToolError {
  return new ToolError("failed", `${path} is outside the workspace; use a path inside ${root.path}`);
}
