import { execFileSync } from "node:child_process";
import { closeSync, copyFileSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { unmount } from "../cleanup.mjs";
import { NotPlayableError } from "../environment.mjs";

const CHUNK = Buffer.alloc(4096);

/**
 * Mounts a small file system in memory at a folder of the stage.
 *
 * @throws NotPlayableError where this process may not mount.
 */
export function mountDisk(stage, folder, { megabytes }) {
  mkdirSync(folder, { recursive: true });
  mount(["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
  stage.onEnd(() => unmount(folder));
  const filler = join(folder, "filler");
  return {
    folder,
    /** Takes all the room there is. */
    fill: () => writeUntilFull(filler),
    free: () => rmSync(filler),
  };
}

/**
 * Mounts an ext4 file system of a file. `fail` is what the kernel does after an error of the device: read-only at once,
 * whoever has files open.
 *
 * @throws NotPlayableError where this process may not mount, or has no loop device.
 */
export function mountExt4(stage, folder, { megabytes }) {
  let image = `${folder}.img`;
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync("truncate", ["-s", `${megabytes}M`, image], { stdio: "pipe" });
    execFileSync("mkfs.ext4", ["-q", image], { stdio: "pipe" });
  } catch (error) {
    throw new NotPlayableError(`no ext4 file system can be made here: ${error.message}`);
  }
  const attach = () => mount(["-o", "loop", image, folder]);
  attach();
  stage.onEnd(() => unmount(folder));
  return {
    folder,
    fail: () => mount(["-o", "remount,abort", folder]),
    /** What an operator does: checks the file system and mounts it again. Files that are open stay those of the old one. */
    repair: () => {
      unmount(folder);
      // While files are open the kernel would give the old file system back for the same image.
      const failed = image;
      image = `${failed}.repaired`;
      copyFileSync(failed, image);
      // 1: errors were corrected.
      check(image);
      attach();
    },
  };
}

function check(image) {
  try {
    execFileSync("e2fsck", ["-fy", image], { stdio: "pipe" });
  } catch (error) {
    if (error.status !== 1) throw error;
  }
}

function mount(args) {
  try {
    execFileSync("mount", args, { stdio: "pipe" });
  } catch (error) {
    throw new NotPlayableError(
      `this process may not mount a file system (root may): ${String(error.stderr).trim()}`,
    );
  }
}

function writeUntilFull(path) {
  const file = openSync(path, "a");
  try {
    for (;;) writeSync(file, CHUNK);
  } catch (error) {
    if (error.code !== "ENOSPC") throw error;
  } finally {
    closeSync(file);
  }
}
