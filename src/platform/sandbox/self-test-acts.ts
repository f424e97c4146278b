import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getSystemErrorMap } from "node:util";
import type { SandboxPrograms } from "./find-sandbox-programs.ts";
import type { SandboxBounds } from "./sandbox-bounds.ts";
import { FILL_BYTES, READY, type SelfTestProgram, TRIED } from "./self-test-programs.ts";
import { type Scratch, UNCHANGED } from "./self-test-scratch.ts";
import type { SandboxEnding } from "./start-sandbox.ts";

export type ActName =
  | "read-shadow"
  | "unix-socket"
  | "connect-outside"
  | "ptrace"
  | "write-outside"
  | "mount"
  | "io-uring"
  | "read-environment"
  | "fork-bomb"
  | "fill-disk"
  | "leave-group"
  | "follow-link";

/** What was seen of an attempt. */
export type Observation = {
  /** Standard output and standard error. */
  readonly output: string;
  readonly ending: SandboxEnding;
  /** Processes of the attempt that were alive one second after its end; only of acts that end by a kill. */
  readonly alive: number;
  /** How long a program of the host took to run meanwhile; only of acts that end by a kill. */
  readonly hostDelayMs: number;
};

export type Verdict = {
  readonly outcome: "prevented" | "succeeded" | "not-tried";
  /** What was seen, in words. */
  readonly detail: string;
};

export type ForbiddenAct = {
  /** What must not succeed. */
  readonly forbidden: string;
  /** When it counts as prevented. */
  readonly criterion: string;
  readonly getCommand: (scratch: Scratch, programs: SandboxPrograms) => readonly [string, ...string[]];
  /**
   * What ends the attempt: itself, a bound of the sandbox, or a kill after it has written `READY` so many times.
   */
  readonly end: "by-itself" | "over-bound" | { readonly killAfter: number };
  /** Whether the sandbox has the profile's network rules; the proxy of each costs the start of a Node process. */
  readonly needsNetwork?: boolean;
  /** Bounds that the attempt exceeds, if the profile's own are not lower. They are small, so that it does so quickly. */
  readonly bounds?: Partial<SandboxBounds>;
  /** Whether the attempt has a workspace of its own: what one sandbox writes counts for each sandbox that may write there. */
  readonly hasOwnWorkspace?: boolean;
  /** Judges an attempt that was made. */
  readonly judge: (observation: Observation, scratch: Scratch) => Verdict;
};

/** The size of the temporary file systems. */
export const SELF_TEST_TMPFS_BYTES = 1024 * 1024;

/** The time in which a program of the host must run during an attempt. It takes some milliseconds on an idle host. */
const HOST_DELAY_MS = 1_000;

/** What a workspace is filled with, in units of 64 KiB. */
const FILL_BLOCKS = 256;

/** Each of the twelve acts, with the criterion by which it counts as prevented. */
export const FORBIDDEN_ACTS = {
  "read-shadow": {
    forbidden: "Read the password file of the host",
    criterion: "Not one line of /etc/shadow can be read.",
    end: "by-itself",
    getCommand: () => shell('while IFS= read -r line; do echo "read a line"; break; done < /etc/shadow'),
    judge: judgeOutput("read a line"),
  },
  "unix-socket": {
    forbidden: "Open a socket of the file system (AF_UNIX)",
    criterion: "The call `socket` fails.",
    end: "by-itself",
    getCommand: runProgram("unix-socket"),
    judge: judgeCall,
  },
  "connect-outside": {
    forbidden: "Connect to a literal address outside, or to a listener on the host's loopback address",
    criterion: "Both calls fail, and the listener accepts no connection.",
    end: "by-itself",
    needsNetwork: true,
    getCommand: ({ tools }) =>
      shell(
        '"$1"; echo "loopback: $?"; "$2"; echo "outside: $?"',
        join(tools, "connect-loopback"),
        join(tools, "connect-outside"),
      ),
    judge: judgeConnections,
  },
  ptrace: {
    forbidden: "Trace the parent process",
    criterion: "The call `ptrace` fails.",
    end: "by-itself",
    getCommand: runProgram("ptrace"),
    judge: judgeCall,
  },
  "write-outside": {
    forbidden: "Write files outside of the workspace",
    criterion: "On the host, no file has changed and none is new.",
    end: "by-itself",
    getCommand: ({ outside, newFiles }) =>
      shell(
        'for file; do { echo changed > "$file"; } 2> /dev/null; done',
        join(outside, "written"),
        ...newFiles,
      ),
    judge: (_, { outside, newFiles }) => judgeFiles(join(outside, "written"), newFiles),
  },
  mount: {
    forbidden: "Mount a file system",
    criterion: "The call `mount` fails.",
    end: "by-itself",
    getCommand: runProgram("mount"),
    judge: judgeCall,
  },
  "io-uring": {
    forbidden: "Set up asynchronous I/O, which evades filters of system calls",
    criterion: "The call `io_uring_setup` fails.",
    end: "by-itself",
    getCommand: runProgram("io-uring"),
    judge: judgeCall,
  },
  "read-environment": {
    forbidden: "Read the environment of a process of the host",
    criterion: "No process that /proc lists has the variable of a process of the host.",
    end: "by-itself",
    getCommand: ({ secret }) =>
      shell(
        `for file in /proc/[0-9]*/environ; do
           { while IFS= read -r line || [ -n "$line" ]; do
               case $line in *"$1"*) echo "found the variable";; esac; line=
             done < "$file"; } 2> /dev/null
         done`,
        secret,
      ),
    judge: judgeOutput("found the variable"),
  },
  "fork-bomb": {
    forbidden: "Start more processes than the bound allows",
    criterion:
      "The sandbox is killed, none of its processes is alive one second later, and meanwhile a program of the host runs within one second.",
    end: "over-bound",
    bounds: { processes: 64 },
    getCommand: runProgram("fork-bomb"),
    judge: (observation) => judgeEnd(observation, isOverBound(observation, "processes", "threads")),
  },
  "fill-disk": {
    forbidden: "Fill the disk or the memory with files",
    criterion:
      "No temporary file system takes more than its size. A command that passes the bound of its workspace is killed, or it can write nothing there.",
    end: "over-bound",
    bounds: { workspaceBytes: 4 * 1024 * 1024 },
    hasOwnWorkspace: true,
    getCommand: ({ tools }) =>
      shell(
        `for place in tmp shm home; do "$1/fill-$place"; echo "$place: $?"; done
         block=0123456789abcdef; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do block=$block$block; done
         i=0; while [ $i -lt ${FILL_BLOCKS} ]; do
           { printf %s "$block" >> fill; } 2> /dev/null || break
           i=$((i + 1))
         done
         [ -s fill ] && exec "$1/wait"`,
        tools,
      ),
    judge: judgeFilling,
  },
  "leave-group": {
    forbidden: "Leave the process group with `setsid` and a double fork, and live on",
    criterion:
      "After the group is killed, none of the processes is alive one second later, and a program of the host runs within one second.",
    end: { killAfter: 3 },
    getCommand: ({ tools }, { setsid }) =>
      shell('("$2" "$1" &); ( ("$2" "$2" "$1" &) & ); exec "$1"', join(tools, "wait"), setsid),
    judge: (observation) => judgeEnd(observation, observation.ending.type === "killed"),
  },
  "follow-link": {
    forbidden: "Write to the host through a symbolic link in the workspace",
    criterion: "On the host, no file that the link leads to has changed and none is new.",
    end: "by-itself",
    getCommand: () =>
      shell('for file in link link-to-folder/new; do { echo changed > "$file"; } 2> /dev/null; done'),
    judge: (_, { outside }) => judgeFiles(join(outside, "linked"), [join(outside, "new")]),
  },
} satisfies Record<ActName, ForbiddenAct>;

export function isTried({ output }: Observation): boolean {
  return output.includes(TRIED) || output.includes(READY);
}

/** Runs a script that has arguments, after it has written `TRIED`. */
function shell(script: string, ...args: readonly string[]): readonly [string, ...string[]] {
  return ["/bin/sh", "-c", `echo ${TRIED.trim()}; ${script}`, "sh", ...args];
}

function runProgram(name: SelfTestProgram): ForbiddenAct["getCommand"] {
  return ({ tools }) => [join(tools, name)];
}

function judgeOutput(sign: string): ForbiddenAct["judge"] {
  return ({ output }) =>
    output.includes(sign)
      ? { outcome: "succeeded", detail: `The attempt ${sign}` }
      : { outcome: "prevented", detail: "Nothing was found" };
}

/** The exit code of a program is the error number of its call. */
function judgeCall({ ending }: Observation): Verdict {
  if (ending.type !== "ran") return { outcome: "not-tried", detail: "The program did not end by itself" };
  return ending.exitCode === 0
    ? { outcome: "succeeded", detail: "The call succeeded" }
    : { outcome: "prevented", detail: `The call failed: ${nameError(ending.exitCode)}` };
}

function judgeConnections({ output }: Observation, { countConnections }: Scratch): Verdict {
  const [loopback, outside] = [readCode(output, "loopback"), readCode(output, "outside")];
  const detail = `loopback: ${nameError(loopback)}, outside: ${nameError(outside)}`;
  if (loopback === 0 || countConnections() > 0 || outside === 0 || outside === EINPROGRESS) {
    return { outcome: "succeeded", detail };
  }
  return { outcome: isRefusal(loopback) && isRefusal(outside) ? "prevented" : "not-tried", detail };
}

const EINPROGRESS = 115;

function judgeFiles(file: string, newFiles: readonly string[]): Verdict {
  const changed = [
    ...(readFileSync(file, "utf8") === UNCHANGED ? [] : [file]),
    ...newFiles.filter((path) => existsSync(path)),
  ];
  return changed.length > 0
    ? { outcome: "succeeded", detail: `Changed on the host: ${changed.join(", ")}` }
    : { outcome: "prevented", detail: "No file of the host has changed" };
}

function judgeFilling(observation: Observation, { ownWorkspace }: Scratch): Verdict {
  const codes = ["tmp", "shm", "home"].map((place) => [place, readCode(observation.output, place)] as const);
  const unbounded = codes.filter(([, code]) => code === 0).map(([place]) => place);
  if (unbounded.length > 0) {
    return { outcome: "succeeded", detail: `${FILL_BYTES} bytes fit into: ${unbounded.join(", ")}` };
  }
  const [place, code] = codes.find(([, exitCode]) => !isRefusal(exitCode)) ?? [];
  if (place !== undefined) return { outcome: "not-tried", detail: `${place}: ${nameError(code)}` };
  const isEmpty = (lstatSync(join(ownWorkspace, "fill"), { throwIfNoEntry: false })?.size ?? 0) === 0;
  return judgeEnd(observation, isEmpty || isOverBound(observation, "workspace"));
}

function isOverBound({ ending }: Observation, ...bounds: readonly string[]): boolean {
  return ending.type === "over-bound" && bounds.includes(ending.bound);
}

function judgeEnd({ ending, alive, hostDelayMs }: Observation, isEnded: boolean): Verdict {
  const detail = `${ending.type}${"bound" in ending ? ` (${ending.bound})` : ""}; ${alive} alive; the host answered after ${Math.round(hostDelayMs)} ms`;
  const isPrevented = isEnded && alive === 0 && hostDelayMs < HOST_DELAY_MS;
  return { outcome: isPrevented ? "prevented" : "succeeded", detail };
}

function readCode(output: string, name: string): number | undefined {
  const [, code] = new RegExp(`^${name}: (\\d+)$`, "m").exec(output) ?? [];
  return code === undefined ? undefined : Number(code);
}

/** A shell reports a program that it cannot run as 126 or 127, and a signal as 128 and its number. */
function isRefusal(code: number | undefined): boolean {
  return code !== undefined && code > 0 && code < 126 && code !== EOPNOTSUPP;
}

/** A file system cannot reserve space. */
const EOPNOTSUPP = 95;

function nameError(code: number | undefined): string {
  if (code === undefined) return "no answer";
  const [name] = getSystemErrorMap().get(-code) ?? [];
  return code === 0 ? "done" : (name ?? `error ${code}`);
}
