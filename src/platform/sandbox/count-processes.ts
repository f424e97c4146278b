import { readdirSync, readFileSync, statSync } from "node:fs";

/** What the processes of a sandbox use at one moment. */
export type ProcessCount = {
  readonly threads: number;
  /** A page that several processes share counts for each of them. */
  readonly residentBytes: number;
};

/** Fields of /proc/PID/stat after the name: `num_threads` and `rss`, which are the fields 20 and 24 of the line. */
const THREADS_FIELD = 17;
const RESIDENT_FIELD = 21;

/** Of x64, and of most arm64 systems: the memory of others is counted too low until the exact count. */
const PAGE_BYTES = 4096;

/**
 * Finds the process table of a sandbox: the sandbox's own /proc, which lists the processes of its PID namespace alone,
 * wherever they have gone. Returns undefined before it is mounted and after the sandbox has ended.
 *
 * @param firstProcess - The id of the sandbox's first process on the host.
 */
export function findProcessTable(firstProcess: number): string | undefined {
  const table = `/proc/${firstProcess}/root/proc`;
  try {
    // Before bwrap has changed the root, the path leads to the host's own table.
    return statSync(table).dev === statSync("/proc").dev ? undefined : table;
  } catch {
    return undefined;
  }
}

/** Lists the ids of the processes in a process table. */
export function listTable(table: string): readonly string[] {
  try {
    return readdirSync(table).filter((name) => name >= "1" && name < ":");
  } catch {
    return [];
  }
}

/** Reads one line a process, some 15 microseconds each. */
export function countProcesses(table: string): ProcessCount {
  let [threads, pages] = [0, 0];
  for (const pid of listTable(table)) {
    const stat = readText(`${table}/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    threads += Number(fields[THREADS_FIELD] ?? 0);
    pages += Number(fields[RESIDENT_FIELD] ?? 0);
  }
  return { threads, residentBytes: pages * PAGE_BYTES };
}

/** Sums the memory of all processes; a shared page counts in parts. It takes the kernel up to milliseconds a process. */
export function countProportionalBytes(table: string): number {
  let kibibytes = 0;
  for (const pid of listTable(table)) {
    const [, size] = /^Pss:\s+(\d+) kB$/m.exec(readText(`${table}/${pid}/smaps_rollup`)) ?? [];
    kibibytes += Number(size ?? 0);
  }
  return kibibytes * 1024;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // The process has ended.
    return "";
  }
}
