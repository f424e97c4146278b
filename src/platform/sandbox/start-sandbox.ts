import type { StdioNull, StdioPipe } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Duplex } from "node:stream";
import { CALL_VARIABLE, signalGroup } from "../process/process-group.ts";
import { isRunning, StartError, type StartedGroup, waitForExit } from "../process/start-group.ts";
import type { NetworkRule } from "../text/network-rule.ts";
import { buildBwrapArguments } from "./build-bwrap-arguments.ts";
import type { Controller } from "./control-group.ts";
import type { SandboxPrograms } from "./find-sandbox-programs.ts";
import { type ConnectionReport, createNetworkProxy, type NetworkProxy } from "./network-proxy.ts";
import { type ListenerTarget, openListener } from "./open-listener.ts";
import { buildLimitArguments, readHardLimits, resolveBounds } from "./sandbox-bounds.ts";
import type { SandboxPlan } from "./sandbox-plan.ts";
import { takeShell } from "./sandbox-shells.ts";
import { readSandboxStatus } from "./sandbox-status.ts";
import { assembleSeccompFilter, FILTER_ARCHITECTURES, type FilterArchitecture } from "./seccomp-filter.ts";
import { type BoundExcess, watchBounds } from "./watch-bounds.ts";

// Invariants
//   S1. The command does not start before the line on `parentPipe`, nor before the proxy listens.
//   S2. When the process group is gone, no process of the sandbox is running. bwrap, the sandbox's first process and the
//       watcher are the group; the end of bwrap, for whatever reason, kills the first process, and the kernel ends every
//       other process before that one is gone.
//   S3. A command that did not start because the sandbox could not be made is reported as `not-started`; its exit code is
//       bwrap's, and says nothing about the command.
//   S4. From the start of the command until bwrap has ended, its bounds are enforced. The command can neither raise its limits,
//       which are hard, nor reach the watcher of the others, which is this process.
//
// A process of the sandbox cannot leave with the group's number: it sees only its own PID namespace, and `setsid` has moved
// it to a group of its own. So it can neither stop nor kill the watcher.

export type SandboxedCommand = {
  readonly plan: Omit<SandboxPlan, "descriptors">;
  readonly programs: SandboxPrograms;
  readonly command: string;
  readonly args: readonly string[];
  readonly stdin: number | StdioPipe | StdioNull;
  /** Without rules, the sandbox has no network and no proxy. */
  readonly network?: SandboxedNetwork | undefined;
};

/** @testonly */
export type SandboxedNetwork = {
  readonly rules: readonly NetworkRule[];
  readonly onConnection: (report: ConnectionReport) => void;
  readonly resolve?: ((name: string) => Promise<readonly string[]>) | undefined;
};

/** How a sandbox ended. */
export type SandboxEnding =
  /** The command has run; a signal that ended it counts as 128 and its number, as in a shell. */
  | { readonly type: "ran"; readonly exitCode: number }
  /** It was killed from outside, with the command. */
  | { readonly type: "killed" }
  /** It was killed because it exceeded a bound. */
  | ({ readonly type: "over-bound" } & BoundExcess)
  /** The sandbox could not be made; bwrap has written the reason to standard error, or it is in `problem`. */
  | { readonly type: "not-started"; readonly problem?: string };

export type StartedSandbox = Omit<StartedGroup, "extraPipes"> & {
  /** Sends SIGTERM to the command. A signal to the group would end bwrap, and all processes with it, at once. */
  readonly terminate: () => void;
  /** What the kernel bounds for all processes together. All other bounds but those of single processes are the watcher's. */
  readonly controllers: readonly Controller[];
  /** Settles when bwrap has ended and the proxy is closed; never rejects. */
  readonly ended: Promise<SandboxEnding>;
};

/** Descriptors of bwrap. The first four are those of every group. */
const ARGUMENTS = 4;
const SECCOMP = 5;
const STATUS = 6;
const HOLD = 7;

/** Any port is free in a new network. */
export const PROXY_PORT = 18_080;

const PROXY_ADDRESS = `127.0.0.1:${PROXY_PORT}`;

/** Names by which programs find their proxy. Plain requests are refused, with a sentence that says why. */
const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [
      [name, `http://${PROXY_ADDRESS}`],
      [name.toUpperCase(), `http://${PROXY_ADDRESS}`],
    ]),
  ),
  no_proxy: "localhost,127.0.0.1,::1",
  NO_PROXY: "localhost,127.0.0.1,::1",
  NODE_USE_ENV_PROXY: "1",
};

/** Starts a command in a sandbox, which waits until a line is written to `parentPipe`. Rejects with a `StartError`. */
export async function startSandbox(sandboxed: SandboxedCommand): Promise<StartedSandbox> {
  const { plan, programs, network } = sandboxed;
  const filter = getSeccompFilter();
  const bwrapArguments = buildBwrapArguments({
    ...plan,
    env: network === undefined ? plan.env : { ...plan.env, ...PROXY_VARIABLES },
    descriptors: { seccomp: SECCOMP, status: STATUS, hold: network === undefined ? undefined : HOLD },
  });
  const bounds = resolveBounds(plan.bounds);
  const call = plan.env[CALL_VARIABLE];
  const marker = call === undefined ? {} : { [CALL_VARIABLE]: call };
  const { shell, controlGroup } = await takeShell(sandboxed.stdin, programs);
  const controllers = controlGroup.limit(bounds);
  try {
    shell.become(
      [
        programs.bwrap,
        // Variables may be secrets, and other users can read the arguments of a process.
        ...["--args", String(ARGUMENTS), "--"],
        ...[programs.prlimit, ...buildLimitArguments(bounds, readHardLimits())],
        ...[programs.setsid, sandboxed.command, ...sandboxed.args],
      ],
      // The command can read the environment of the sandbox's first process, which is bwrap's.
      marker,
      network === undefined ? [HOLD] : [],
    );
  } catch (error) {
    void controlGroup.remove();
    throw error;
  }
  const [argumentsPipe, filterPipe, statusPipe, holdPipe] = shell.extraPipes as [
    Duplex,
    Duplex,
    Duplex,
    Duplex,
  ];
  argumentsPipe.end(bwrapArguments.map((argument) => `${argument}\0`).join(""));
  filterPipe.end(filter);

  const { child, pgid, parentPipe } = shell;
  const proxy = network === undefined ? undefined : createNetworkProxy(network);
  let firstProcess: number | undefined;
  let problem: string | undefined;
  let connected: Promise<void> = Promise.resolve();
  const status = readSandboxStatus(statusPipe, (pid) => {
    firstProcess = pid;
    if (proxy === undefined) return;
    connected = connectProxy(proxy, holdPipe, { pid, port: PROXY_PORT, env: marker }, programs).catch(
      (error: unknown) => {
        problem = error instanceof Error ? error.message : String(error);
        if (isRunning(child)) signalGroup(pgid, "SIGKILL");
      },
    );
  });

  let excess: BoundExcess | undefined;
  const stopWatching = watchBounds({
    bounds,
    folders: plan.isReadOnly ? [] : [plan.workspace, ...plan.writable],
    getFirstProcess: () => firstProcess,
    onExcess: (found) => {
      if (!isRunning(child)) return;
      excess = found;
      signalGroup(pgid, "SIGKILL");
    },
  });

  const waitForEnd = async (): Promise<SandboxEnding> => {
    await waitForExit(child);
    stopWatching();
    for (const pipe of shell.extraPipes) if (pipe !== statusPipe) pipe.destroy();
    // The status is in the pipe already.
    setTimeout(() => statusPipe.destroy(), STATUS_DRAIN_MS).unref();
    const { exitCode } = await status;
    const isOutOfMemory =
      (exitCode === undefined || exitCode === OUT_OF_MEMORY_CODE) && controlGroup.hasRunOut();
    // The watcher is in the group until `parentPipe` ends.
    void controlGroup.remove();
    firstProcess = undefined;
    await connected;
    await proxy?.close();
    if (problem !== undefined) return { type: "not-started", problem };
    if (isOutOfMemory) return { type: "over-bound", bound: "memory", limit: bounds.memoryBytes ?? 0 };
    if (excess !== undefined && exitCode === undefined) return { type: "over-bound", ...excess };
    if (exitCode !== undefined) return { type: "ran", exitCode };
    return child.signalCode === null ? { type: "not-started" } : { type: "killed" };
  };

  return {
    child,
    pgid,
    parentPipe,
    controllers,
    terminate: () => {
      if (isRunning(child) && !terminateCommand(firstProcess)) signalGroup(pgid, "SIGTERM");
    },
    ended: waitForEnd(),
  };
}

/** bwrap closes the pipe when it ends; only a process that has inherited it could keep it open. */
const STATUS_DRAIN_MS = 1_000;

/** 128 and SIGKILL. */
const OUT_OF_MEMORY_CODE = 137;

let seccompFilter: Buffer | undefined;

function getSeccompFilter(): Buffer {
  const architecture = FILTER_ARCHITECTURES.find((known) => known === process.arch);
  if (architecture === undefined) {
    throw new StartError(
      `A sandbox needs one of ${FILTER_ARCHITECTURES.join(", ")}; this is ${process.arch}`,
    );
  }
  seccompFilter ??= assembleSeccompFilter(architecture satisfies FilterArchitecture);
  return seccompFilter;
}

/** Opens the proxy's socket in the sandbox's network, and then lets the command start. */
async function connectProxy(
  proxy: NetworkProxy,
  holdPipe: Duplex,
  target: Omit<ListenerTarget, "nsenter">,
  { nsenter }: SandboxPrograms,
): Promise<void> {
  if (nsenter === undefined) throw new Error("nsenter (of util-linux) is not installed");
  const listener = await openListener({ ...target, nsenter });
  proxy.attach(listener);
  holdPipe.end(`${PROXY_ADDRESS}\n`);
}

/** Signals the groups of the first process's children. Returns false if there is none yet. */
function terminateCommand(firstProcess: number | undefined): boolean {
  if (firstProcess === undefined) return false;
  const children = listChildren(firstProcess);
  // A process that has not entered its own session yet leads no group.
  for (const pid of children) if (!sendTerm(-pid)) sendTerm(pid);
  return children.length > 0;
}

function sendTerm(target: number): boolean {
  try {
    process.kill(target, "SIGTERM");
    return true;
  } catch {
    return false;
  }
}

function listChildren(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1");
    return text
      .split(" ")
      .filter((word) => word !== "")
      .map(Number);
  } catch {
    return [];
  }
}
