// Finds and ends what scenarios have started: processes, mounts and folders. Only what carries our mark is touched.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { basename, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The variable that every process of a scenario inherits. */
export const MARK = "HOLDFAST_CHAOS_MARK";

/** How the one folder of everything that is played is called. */
export const ROOT_PREFIX = "holdfast-chaos-";

/** What the processes of a closed scenario may take to end. */
const GRACE_MS = 8_000;

/** Living processes that carry the mark, or work in the folder: `{ pid, command }`. */
export function listProcesses({ mark, folder }) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        if (!isAlive(name)) return [];
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        const isMarked = readFileSync(`/proc/${name}/environ`, "utf8")
          .split("\0")
          .some((variable) => variable.startsWith(`${MARK}=${mark}`));
        const isWithin = command.includes(folder + sep) || isBelow(readlinkSync(`/proc/${name}/cwd`), folder);
        return isMarked || isWithin ? [{ pid: Number(name), command: command.slice(0, 200) }] : [];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}

/** Waits for the processes to end; kills those that do not, and returns them. */
export async function endProcesses(which, graceMs = GRACE_MS) {
  const until = Date.now() + graceMs;
  for (;;) {
    const remaining = listProcesses(which);
    if (remaining.length === 0) return [];
    if (Date.now() > until) {
      killAll(remaining);
      while (remaining.some(({ pid }) => isPresent(pid))) await sleep(10);
      return remaining;
    }
    await sleep(50);
  }
}

export function killAll(processes) {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Mount points below the folder, the innermost first. */
export function listMounts(folder) {
  return readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1]?.replaceAll("\\040", " ") ?? "")
    .filter((point) => isBelow(point, folder))
    .reverse();
}

export function unmount(point) {
  execFileSync("umount", ["--lazy", point], { stdio: "pipe" });
}

/** Ends and removes everything at once; for the end of the program, however it comes. */
export function removeEverything({ mark, root }) {
  if (!basename(root).startsWith(ROOT_PREFIX)) throw new Error(`${root} is not a folder of ours`);
  killAll(listProcesses({ mark, folder: root }));
  for (const point of listMounts(root)) unmount(point);
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}

function isPresent(pid) {
  try {
    return isAlive(pid);
  } catch {
    return false;
  }
}

function isAlive(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}

function isBelow(path, folder) {
  return path === folder || path.startsWith(folder + sep);
}
