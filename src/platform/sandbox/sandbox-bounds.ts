import { readFileSync } from "node:fs";

// Who enforces a bound:
//
//   fileBytes, openFiles   the kernel, for each process (RLIMIT_FSIZE, RLIMIT_NOFILE). Core dumps are off (RLIMIT_CORE).
//   threads                the kernel (RLIMIT_NPROC), unless the worker runs as root, whom that limit does not bind; and the
//                          watcher for everyone. Before Linux 5.14, the kernel counts all threads of the worker's user.
//   processes, memoryBytes,
//   workspaceBytes         the watcher (watch-bounds.ts), which kills the sandbox.
//
// There is no limit of the address space (RLIMIT_AS): V8 and the JVM reserve many times what they use.

/** How much the processes of a sandbox may use together, or each of them where it says so. */
export type SandboxBounds = {
  /**
   * Processes alive at the same time, without their threads. By default 512: a parallel build on a machine with 128
   * processors runs some 300, and a fork bomb of 512 processes neither fills a process table nor takes long to end.
   */
  readonly processes: number;
  /**
   * Threads alive at the same time, of which each process has at least one. By default 4,096: Node starts with 11 and a
   * JVM with some 30, so a test runner with a process for each of 64 processors has 700 to 2,000.
   */
  readonly threads: number;
  /** The size of each file that a process writes. By default 8 GiB: larger than a disk image, smaller than a disk. */
  readonly fileBytes: number;
  /** Open files of each process. By default 4,096: a bundler or a test runner watches one or two thousand files. */
  readonly openFiles: number;
  /**
   * Resident memory, each shared page counted once. Absent by default: only the user knows how many sandboxes share the
   * machine. Memory that grows from one look of the watcher to the next is not bound; for hostile commands, also run the
   * worker in a cgroup with `memory.max`.
   */
  readonly memoryBytes?: number | undefined;
  /**
   * What one call may add to the workspace and to the other writable folders. By default 10 GiB, which holds the
   * dependencies and the build of a large project; never more than nine tenths of what is free when the call starts. What
   * other programs write to these folders at the same time counts as well.
   */
  readonly workspaceBytes: number;
};

const GIB = 1024 ** 3;

export const DEFAULT_BOUNDS: SandboxBounds = {
  processes: 512,
  threads: 4096,
  fileBytes: 8 * GIB,
  openFiles: 4096,
  workspaceBytes: 10 * GIB,
};

/** Fewer processes than a shell with a pipeline has, or files than a program opens to start, are a mistake. */
const MIN_BOUNDS = { processes: 8, threads: 16, fileBytes: 4096, openFiles: 32, workspaceBytes: 0 };

/** Fills in the defaults. */
export function resolveBounds(bounds: Partial<SandboxBounds> = {}): SandboxBounds {
  return {
    ...DEFAULT_BOUNDS,
    ...Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined)),
  };
}

/** Returns what is wrong with the bounds, as a sentence, if anything. */
export function findBoundsProblem(bounds: SandboxBounds): string | undefined {
  for (const [name, minimum] of Object.entries(MIN_BOUNDS)) {
    const value = bounds[name as keyof typeof MIN_BOUNDS];
    if (!Number.isSafeInteger(value) || value < minimum) {
      return `The bound ${name} = ${value} is not a whole number from ${minimum} on`;
    }
  }
  const { memoryBytes } = bounds;
  if (memoryBytes !== undefined && (!Number.isSafeInteger(memoryBytes) || memoryBytes <= 0)) {
    return `The bound memoryBytes = ${memoryBytes} is not a positive whole number`;
  }
  return undefined;
}

/** Limits that this process has, and cannot raise for its children. */
export type HardLimits = Readonly<Partial<Record<"fileBytes" | "openFiles" | "threads", number>>>;

/**
 * Builds the arguments of prlimit, without the command. Limits are hard: the command cannot raise them.
 *
 * prlimit starts between bwrap and the command. Before bwrap, RLIMIT_NPROC would count the user's processes on the whole
 * host, and a busy host could not start a sandbox; in the sandbox's user namespace it counts those of the sandbox alone.
 */
export function buildLimitArguments(bounds: SandboxBounds, hardLimits: HardLimits): string[] {
  const atMost = (name: keyof HardLimits) =>
    Math.min(bounds[name], hardLimits[name] ?? Number.POSITIVE_INFINITY);
  return [
    "--core=0:0",
    ...[
      ["fsize", atMost("fileBytes")],
      ["nofile", atMost("openFiles")],
      ["nproc", atMost("threads")],
    ].map(([name, limit]) => `--${name}=${limit}:${limit}`),
  ];
}

/** Lines of /proc/PID/limits, whose third column is the hard limit. */
const LIMIT_LINES = {
  fileBytes: "Max file size",
  openFiles: "Max open files",
  threads: "Max processes",
} satisfies Record<keyof HardLimits, string>;

/** Reads the limits of this process. Unlimited ones are absent. */
export function readHardLimits(): HardLimits {
  const text = readFileSync("/proc/self/limits", "latin1");
  return Object.fromEntries(
    Object.entries(LIMIT_LINES).flatMap(([name, label]) => {
      const [, hard] = new RegExp(`^${label} +\\S+ +(\\d+) `, "m").exec(text) ?? [];
      return hard === undefined ? [] : [[name, Number(hard)]];
    }),
  );
}
