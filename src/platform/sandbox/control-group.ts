import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { SandboxBounds } from "./sandbox-bounds.ts";

// A control group (cgroup) bounds all processes of a sandbox together, also those of root. It exists only where the worker
// may make one: as root outside of most containers, or as a user to whom systemd has delegated a part of the tree.
//
//   pids    no fork bomb has more threads than the bound, however fast it is.
//   cpu     all processes together get the share of one. Without it, each session has a share of its own where the kernel
//           groups processes by session (kernel.sched_autogroup_enabled), and a fork bomb that calls `setsid` leaves almost
//           none to the watcher, which should end it.
//   memory  also counts what temporary file systems contain.

export type Controller = "pids" | "cpu" | "memory";

export const CONTROLLERS: readonly Controller[] = ["pids", "cpu", "memory"];

/** A place in which this process may try to make groups. */
export type GroupPlace = {
  readonly version: 1 | 2;
  readonly controllers: readonly Controller[];
  /** The folder in which groups are made. */
  readonly folder: string;
  /** This process's own group, to which the last process of a removed group goes. */
  readonly own: string;
};

export type ControlGroup = {
  /** Returns what the kernel bounds from now on. */
  readonly limit: (bounds: SandboxBounds) => readonly Controller[];
  /** Returns whether the kernel has ended a process because the memory was used up. */
  readonly hasRunOut: () => boolean;
  /** Removes the group when it is empty; after some seconds, moves out what is still in it. Never rejects. */
  readonly remove: () => Promise<void>;
};

/** The supervisor's shell, its watcher and the two processes of bwrap. */
const OWN_PROCESSES = 4;

const NAME = /^holdfast-(\d+)-\d+$/;

/** A group that is younger may belong to a worker in another PID namespace, which is about to use it. */
const STALE_AFTER_MS = 60_000;

let groups = 0;
let knownPlaces: readonly GroupPlace[] | undefined;

/**
 * Makes a group and moves a process into it, which must not have any children yet. Leaves out what is not permitted. Never
 * rejects.
 */
export async function createControlGroup(
  pid: number,
  places: readonly GroupPlace[] = getPlaces(),
): Promise<ControlGroup> {
  groups += 1;
  const name = `holdfast-${process.pid}-${groups}`;
  const made = (
    await Promise.all(places.map((place) => createInPlace(place, join(place.folder, name), pid)))
  ).flat();
  const memory = made.find(({ controllers }) => controllers.includes("memory"));
  return {
    limit: (bounds) =>
      made.flatMap((place) => place.controllers.filter((controller) => limit(place, controller, bounds))),
    hasRunOut: () => memory !== undefined && countEndings(memory.folder, memory.version) > 0,
    remove: async () => {
      await Promise.all(made.map(removeGroup));
    },
  };
}

async function createInPlace(place: GroupPlace, folder: string, pid: number): Promise<readonly GroupPlace[]> {
  try {
    mkdirSync(folder);
  } catch {
    return [];
  }
  try {
    await writeFile(join(folder, "cgroup.procs"), String(pid));
    return [{ ...place, folder }];
  } catch {
    removeFolder(folder);
    return [];
  }
}

const SWAP_LIMIT = "memory.swap.max";

/** Returns whether the group now has this bound. */
function limit(
  { folder, version }: GroupPlace,
  controller: Controller,
  { threads, memoryBytes }: SandboxBounds,
): boolean {
  if (controller === "cpu") return true;
  if (controller === "memory" && memoryBytes === undefined) return false;
  try {
    if (controller === "pids") {
      writeFileSync(join(folder, "pids.max"), String(threads + OWN_PROCESSES));
      return true;
    }
    writeFileSync(join(folder, version === 1 ? "memory.limit_in_bytes" : "memory.max"), String(memoryBytes));
    // Absent if the system has no swap.
    if (version === 2 && existsSync(join(folder, SWAP_LIMIT))) writeFileSync(join(folder, SWAP_LIMIT), "0");
    return true;
  } catch {
    return false;
  }
}

/** Lines `oom_kill N`. */
function countEndings(folder: string, version: 1 | 2): number {
  const text = readText(join(folder, version === 1 ? "memory.oom_control" : "memory.events"));
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** The watcher ends when its supervisor has read all output, and a dead process when its parent has read its exit code. */
const REMOVAL_PAUSES_MS = [10, 50, 250, 1_000, 5_000];

async function removeGroup({ folder, own }: Pick<GroupPlace, "folder" | "own">): Promise<void> {
  for (const pauseMs of REMOVAL_PAUSES_MS) {
    await delay(pauseMs, undefined, { ref: false });
    if (removeFolder(folder)) return;
  }
  // Only now: moving a process takes the kernel long.
  for (const pid of readText(join(folder, "cgroup.procs"))
    .split("\n")
    .filter((line) => line !== "")) {
    // It may have ended.
    await writeFile(join(own, "cgroup.procs"), pid).catch(() => {});
  }
  removeFolder(folder);
}

function removeFolder(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

function getPlaces(): readonly GroupPlace[] {
  if (knownPlaces === undefined) {
    knownPlaces = findGroupPlaces(readText("/proc/self/mountinfo"), readText("/proc/self/cgroup"), (folder) =>
      readText(join(folder, "cgroup.subtree_control")),
    );
    for (const { folder } of knownPlaces) removeStale(folder);
  }
  return knownPlaces;
}

/** Removes groups that workers which were killed have left. The system does not remove one that is in use. */
function removeStale(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      const [, worker] = NAME.exec(name) ?? [];
      if (worker === undefined || readText(`/proc/${worker}/stat`) !== "") continue;
      const path = join(folder, name);
      if (Date.now() - statSync(path).ctimeMs > STALE_AFTER_MS) removeFolder(path);
    }
  } catch {
    // They remain.
  }
}

/**
 * Finds where groups can be made. In version 1 that is this process's own group, once for each controller. In version 2 a
 * group with processes has no groups with controllers in it, so it is the group around this process's own.
 *
 * @param readSubtree - Reads the controllers that the groups in a folder have.
 */
export function findGroupPlaces(
  mountinfo: string,
  ownGroups: string,
  readSubtree: (folder: string) => string,
): readonly GroupPlace[] {
  const own = ownGroups.split("\n").flatMap((line) => {
    const [, names = "", path = ""] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    return path === "" ? [] : [{ names: names.split(","), path }];
  });
  const taken = new Set<Controller>();
  return mountinfo.split("\n").flatMap((line): readonly GroupPlace[] => {
    const [, root = "", mountPoint = "", type, options = ""] =
      /^\d+ \d+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line) ?? [];
    if (type === undefined) return [];
    const version = type === "cgroup2" ? 2 : 1;
    const listed = options.split(",");
    const group = own.find(({ names }) =>
      version === 2 ? names.join() === "" : names.some((name) => listed.includes(name)),
    );
    if (group === undefined || !isBelow(group.path, root)) return [];
    const folder = join(mountPoint, root === "/" ? group.path : group.path.slice(root.length));
    const parent = version === 2 && folder !== mountPoint ? dirname(folder) : folder;
    const available = version === 2 ? readSubtree(parent).trim().split(" ") : listed;
    const controllers = CONTROLLERS.filter((name) => available.includes(name) && !taken.has(name));
    if (controllers.length === 0) return [];
    for (const name of controllers) taken.add(name);
    return [{ version, controllers, folder: trimSlash(parent), own: trimSlash(folder) }];
  });
}

function isBelow(path: string, root: string): boolean {
  return root === "/" || path === root || path.startsWith(`${root}/`);
}

function trimSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
