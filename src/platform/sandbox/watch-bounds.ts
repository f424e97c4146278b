import { statfsSync, statSync } from "node:fs";
import { countGrowth } from "./count-growth.ts";
import { countProcesses, countProportionalBytes, findProcessTable, listTable } from "./count-processes.ts";
import type { SandboxBounds } from "./sandbox-bounds.ts";

// Invariants
//   W1. A sandbox that exceeds a bound of the watcher is killed at the next look, and the excess is reported once.
//   W2. A look costs microseconds while a sandbox stays far below its bounds: one folder of /proc for the processes, one
//       call for each file system. Exact counts run when such a figure could hide an excess, and otherwise seldom: for
//       file systems that report their use late, and for space that others free meanwhile.
//   W3. An older file that a command changes counts as growth only as far as its file system has grown too.

/** The bound that a sandbox has exceeded. */
export type BoundExcess = {
  readonly bound: "processes" | "threads" | "memory" | "workspace";
  /** In the unit of the bound. */
  readonly limit: number;
};

export type WatchedSandbox = {
  readonly bounds: SandboxBounds;
  /** The folders that share `workspaceBytes`; none in a sandbox that may only read. */
  readonly folders: readonly string[];
  /** The id of the sandbox's first process on the host; undefined before it exists and after its end. */
  readonly getFirstProcess: () => number | undefined;
  /** Kills the sandbox. Called once. */
  readonly onExcess: (excess: BoundExcess) => void;
};

/** A shell forks some thousand times a second: a fork bomb has some hundred processes by then, which a host bears. */
const PROCESS_INTERVAL_MS = 50;

/** In this time a fast disk takes some 500 MB, and a process some 500 MB of memory. */
const USE_INTERVAL_MS = 250;

/** An exact count reads the facts of each file, some 30 microseconds each, and may take this share of the time. */
const EXACT_COUNT_SHARE = 0.01;

/** The time before an exact count without a sign of an excess, which ends early in a workspace with many files. */
const QUICK_COUNT_INTERVAL_MS = 1_000;
const QUICK_COUNT_FILES = 2_000;

/** The time before a complete one. */
const FULL_COUNT_INTERVAL_MS = 10_000;

/** File systems that report their use at once: ext4, XFS, F2FS, tmpfs, and overlay, which asks the one below it. */
const PROMPT_TYPES: readonly number[] = [0xef53, 0x5846_5342, 0xf2f5_2010, 0x0102_1994, 0x794c_7630];

/** What a call may fill of the space that is free when it starts. */
const FREE_SHARE = 0.9;

/** Watches a sandbox until the returned function is called. */
export function watchBounds(sandbox: WatchedSandbox): () => void {
  const { bounds, getFirstProcess } = sandbox;
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    clearInterval(processTimer);
    clearInterval(useTimer);
  };
  const report = (excess: BoundExcess | undefined) => {
    if (isStopped || excess === undefined) return;
    stop();
    sandbox.onExcess(excess);
  };
  let found: string | undefined;
  const findTable = () => {
    const firstProcess = getFirstProcess();
    found = firstProcess === undefined ? undefined : (found ?? findProcessTable(firstProcess));
    return found;
  };
  const checkWorkspace = createWorkspaceCheck(sandbox, findTable, () => isStopped);
  const processTimer = setInterval(() => {
    const table = findTable();
    if (table !== undefined && listTable(table).length > bounds.processes) {
      report({ bound: "processes", limit: bounds.processes });
    }
  }, PROCESS_INTERVAL_MS);
  const useTimer = setInterval(() => {
    const table = findTable();
    if (table !== undefined) report(checkUse(table, bounds));
    void checkWorkspace().then(report);
  }, USE_INTERVAL_MS);
  return stop;
}

function checkUse(
  table: string,
  { threads: maxThreads, memoryBytes }: SandboxBounds,
): BoundExcess | undefined {
  const { threads, residentBytes } = countProcesses(table);
  if (threads > maxThreads) return { bound: "threads", limit: maxThreads };
  if (memoryBytes === undefined || residentBytes <= memoryBytes) return undefined;
  return countProportionalBytes(table) > memoryBytes ? { bound: "memory", limit: memoryBytes } : undefined;
}

/** Returns a function that never rejects, and answers at once while its last count is running. */
function createWorkspaceCheck(
  { bounds, folders }: WatchedSandbox,
  findTable: () => string | undefined,
  isStopped: () => boolean,
): () => Promise<BoundExcess | undefined> {
  if (folders.length === 0) return async () => undefined;
  const startedAtMs = Date.now();
  const fileSystems = findFileSystems(folders);
  const limit = Math.min(
    bounds.workspaceBytes,
    ...fileSystems.map(({ freeBytes }) => Math.floor(freeBytes * FREE_SHARE)),
  );
  const measureGrowth = () =>
    fileSystems.reduce((sum, { folder, usedBytes }) => sum + readFileSystem(folder).usedBytes - usedBytes, 0);
  const fullIntervalMs = fileSystems.every(({ isPrompt }) => isPrompt)
    ? FULL_COUNT_INTERVAL_MS
    : QUICK_COUNT_INTERVAL_MS;
  let isCounting = false;
  let growthOfNextCount = limit;
  let timeOfQuickCount = performance.now() + QUICK_COUNT_INTERVAL_MS;
  let timeOfFullCount = performance.now() + fullIntervalMs;

  return async () => {
    if (isCounting) return undefined;
    const growth = measureGrowth();
    // Others may have freed space, which hides as much growth.
    growthOfNextCount = Math.min(growthOfNextCount, growth + limit);
    const startOfCount = performance.now();
    const isFull = growth > growthOfNextCount || startOfCount >= timeOfFullCount;
    if (!isFull && startOfCount < timeOfQuickCount) return undefined;
    let files = 0;
    const isEnough = () => {
      files += 1;
      return isStopped() || (!isFull && files > QUICK_COUNT_FILES);
    };
    isCounting = true;
    const { newBytes, changedBytes } = await countGrowth(folders, startedAtMs, isEnough, findTable());
    isCounting = false;
    const counted = Math.max(newBytes, Math.min(changedBytes, growth));
    if (counted > limit) return { bound: "workspace", limit };
    const endOfCount = performance.now();
    const pauseMs = (endOfCount - startOfCount) / EXACT_COUNT_SHARE;
    if (!isFull && files > QUICK_COUNT_FILES) {
      timeOfQuickCount = timeOfFullCount;
      return undefined;
    }
    growthOfNextCount = growth + limit - counted;
    timeOfQuickCount = endOfCount + Math.max(QUICK_COUNT_INTERVAL_MS, pauseMs);
    timeOfFullCount = endOfCount + Math.max(fullIntervalMs, pauseMs);
    return undefined;
  };
}

type FileSystemUse = {
  readonly usedBytes: number;
  readonly freeBytes: number;
  readonly isPrompt: boolean;
};

/** Lists each file system once, with one of the folders on it. */
function findFileSystems(
  folders: readonly string[],
): readonly ({ readonly folder: string } & FileSystemUse)[] {
  const byDevice = new Map(folders.map((folder) => [readDevice(folder), folder]));
  return [...byDevice.values()].map((folder) => ({ folder, ...readFileSystem(folder) }));
}

function readDevice(folder: string): number | undefined {
  try {
    return statSync(folder).dev;
  } catch {
    return undefined;
  }
}

function readFileSystem(folder: string): FileSystemUse {
  try {
    const { type, bsize, blocks, bfree, bavail } = statfsSync(folder);
    return {
      usedBytes: (blocks - bfree) * bsize,
      // Some file systems do not know their size.
      freeBytes: blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize,
      isPrompt: PROMPT_TYPES.includes(type),
    };
  } catch {
    // The folder is gone. Exact counts continue.
    return { usedBytes: 0, freeBytes: Number.POSITIVE_INFINITY, isPrompt: false };
  }
}
