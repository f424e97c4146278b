import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartError } from "../process/start-group.ts";
import { assertNever } from "../text/assert-never.ts";
import type { Controller } from "./control-group.ts";
import { findSandboxPrograms, type SandboxPrograms, SYSTEM_PATH } from "./find-sandbox-programs.ts";
import type { SandboxedMode } from "./sandbox-plan.ts";
import { startSandbox } from "./start-sandbox.ts";

/** Why a host cannot start a sandbox. */
export type HostObstacle =
  /** Another system than Linux. */
  | "unsupported-system"
  /** A program is not installed. */
  | "absent"
  /** bubblewrap does not know an option. */
  | "too-old"
  /** AppArmor takes the capabilities of a new user namespace, as on Ubuntu 23.10 and later. */
  | "apparmor"
  /** The setting `kernel.unprivileged_userns_clone` forbids user namespaces. */
  | "userns-disabled"
  /** The setting `user.max_user_namespaces` is 0, or its number is used up. */
  | "userns-limit"
  /** The worker is in a container that may not make namespaces or mounts. */
  | "container"
  /** The container hides parts of /proc, so the kernel does not allow another /proc. */
  | "masked-proc"
  /** Open files that the worker's own parent has left to it, and no bash that could close them. */
  | "inherited-descriptors"
  | "timeout"
  | "other";

export type HostProbe =
  | {
      readonly able: true;
      readonly programs: SandboxPrograms;
      /**
       * What the kernel bounds for all processes of a sandbox together. Without `pids`, only the watcher ends a fork bomb of
       * a worker that runs as root, and with many sessions such a bomb can slow down the host for many seconds.
       */
      readonly controllers: readonly Controller[];
    }
  | {
      readonly able: false;
      readonly obstacle: HostObstacle;
      /** What was run or looked for. */
      readonly attempt: string;
      /** What came back. */
      readonly answer: string;
      /** What the user can do about it. */
      readonly remedy: string;
    };

export type ProbeOptions = {
  /** The folders in which the programs are; by default those of the system. */
  readonly path?: string;
  /** Reads a setting of the kernel. Returns undefined if there is no such setting. */
  readonly readSetting?: (path: string) => Promise<string | undefined>;
  readonly timeoutMs?: number;
};

const MODES: readonly SandboxedMode[] = ["workspace", "strict"];

/** A start takes some 20 milliseconds. */
const TIMEOUT_MS = 10_000;

const TMPFS_BYTES = 1024 * 1024;

/** The programs of a start need some megabytes. */
const MEMORY_BYTES = 256 * 1024 * 1024;

/** Starts one sandbox of each mode. A host is able only if each of them ran its command. */
export async function probeHost(options: ProbeOptions = {}): Promise<HostProbe> {
  const { path = SYSTEM_PATH, readSetting = readKernelSetting, timeoutMs = TIMEOUT_MS } = options;
  if (process.platform !== "linux") {
    return describe("unsupported-system", "looked at the system", process.platform);
  }
  const programs = await findSandboxPrograms(path);
  if ("missing" in programs) {
    return describe("absent", `looked for ${programs.missing} in ${path}`, "not found", programs.missing);
  }
  const folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-probe-")));
  let controllers: readonly Controller[] = [];
  try {
    for (const mode of MODES) {
      const answer = await tryMode(mode, folder, programs, timeoutMs).catch(getStartError);
      if (typeof answer !== "string") {
        controllers = answer;
        continue;
      }
      const attempt = `ran ${programs.bwrap} with the arguments of mode ${mode}`;
      return describe(await classify(answer, readSetting), attempt, answer, programs.bwrap);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { able: true, programs, controllers };
}

/** Returns the controllers of the sandbox if the command ran, or else what the attempt has written. */
async function tryMode(
  mode: SandboxedMode,
  folder: string,
  programs: SandboxPrograms,
  timeoutMs: number,
): Promise<string | readonly Controller[]> {
  const sandbox = await startSandbox({
    plan: {
      mode,
      workspace: folder,
      isReadOnly: false,
      cwd: folder,
      home: "/tmp/home",
      holdfastHome: "/tmp/holdfast-home",
      readable: [],
      writable: [],
      env: { PATH: SYSTEM_PATH },
      protectedPaths: [],
      hiddenPaths: [],
      tmpfsBytes: TMPFS_BYTES,
      // So that the memory has a bound, and its controller is listed.
      bounds: { memoryBytes: MEMORY_BYTES },
    },
    programs,
    command: "true",
    args: [],
    stdin: "ignore",
  });
  let written = "";
  for (const stream of [sandbox.child.stdout, sandbox.child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      written = (written + text).slice(0, 4000);
    });
  }
  const timer = setTimeout(() => sandbox.child.kill("SIGKILL"), timeoutMs);
  sandbox.parentPipe.write("go\n");
  const ending = await sandbox.ended;
  clearTimeout(timer);
  sandbox.parentPipe.destroy();
  if (ending.type === "ran" && ending.exitCode === 0) return sandbox.controllers;
  if (ending.type === "killed") return `${TIMED_OUT} ${timeoutMs} ms. ${written}`.trim();
  const { exitCode } = sandbox.child;
  return written.trim() === "" ? `exit code ${exitCode}, without a message` : written.trim();
}

function getStartError(error: unknown): string {
  if (error instanceof StartError) return error.message;
  throw error;
}

const TIMED_OUT = "no answer within";

/** Texts of bwrap's messages, and what they mean on their own. */
const MESSAGES: readonly (readonly [RegExp, HostObstacle])[] = [
  [/Unknown option/i, "too-old"],
  [/A sandbox needs one of/, "unsupported-system"],
  [/inherited the open descriptors/, "inherited-descriptors"],
  [/loopback: Failed RTM_NEW(?:ADDR|LINK)/i, "apparmor"],
  [/setting up [ug]id map: Permission denied/i, "apparmor"],
  [/exceeded \(ENOSPC\)|No space left on device/i, "userns-limit"],
  [/Can't mount proc/i, "masked-proc"],
  [/Failed to make \/ slave|Failed to mount tmpfs|pivot_root/i, "container"],
  [/No permissions to create (?:a )?new namespace|Creating new namespace failed/i, "container"],
];

async function classify(
  answer: string,
  readSetting: NonNullable<ProbeOptions["readSetting"]>,
): Promise<HostObstacle> {
  if (answer.startsWith(TIMED_OUT)) return "timeout";
  const [, obstacle = "other"] = MESSAGES.find(([message]) => message.test(answer)) ?? [];
  if (["other", "too-old", "unsupported-system", "inherited-descriptors"].includes(obstacle)) return obstacle;
  // The same refusal comes from several places; a setting of the kernel names its own.
  const [clone, limit] = await Promise.all([readSetting(CLONE_SETTING), readSetting(LIMIT_SETTING)]);
  if (clone === "0") return "userns-disabled";
  if (limit === "0") return "userns-limit";
  if ((await readSetting(APPARMOR_SETTING)) === "1" && obstacle === "container") return "apparmor";
  return obstacle;
}

const CLONE_SETTING = "/proc/sys/kernel/unprivileged_userns_clone";
const LIMIT_SETTING = "/proc/sys/user/max_user_namespaces";
const APPARMOR_SETTING = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

async function readKernelSetting(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch {
    return undefined;
  }
}

function describe(obstacle: HostObstacle, attempt: string, answer: string, program = "bwrap"): HostProbe {
  return { able: false, obstacle, attempt, answer, remedy: getRemedy(obstacle, program) };
}

/** The profile gives user namespaces back to bwrap alone, as Ubuntu's own profiles do for other programs. */
function formatAppArmorProfile(bwrap: string): string {
  return `abi <abi/4.0>,
include <tunables/global>
profile bwrap ${bwrap} flags=(unconfined) {
  userns,
  include if exists <local/bwrap>
}`;
}

const TURN_OFF = 'To run without a sandbox, say so: `mode = "off"`.';

function getRemedy(obstacle: HostObstacle, program: string): string {
  switch (obstacle) {
    case "unsupported-system":
      return `The sandbox needs Linux on x64 or arm64. Elsewhere, run the worker in a Linux virtual machine or container. ${TURN_OFF}`;
    case "absent": {
      const name = program === "bwrap" ? "bubblewrap" : "util-linux";
      return `Install ${name}: \`apt-get install ${name}\`, \`dnf install ${name}\`, \`apk add ${name}\` or \`pacman -S ${name}\`.`;
    }
    case "too-old":
      return "Install bubblewrap 0.8 or later from your distribution, or from https://github.com/containers/bubblewrap/releases.";
    case "apparmor":
      return `AppArmor takes the rights of new user namespaces. As root, write this profile to /etc/apparmor.d/bwrap and load it with \`apparmor_parser -r /etc/apparmor.d/bwrap\`:

${formatAppArmorProfile(program)}

Or allow user namespaces to all programs: \`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\`.`;
    case "userns-disabled":
      return "Allow user namespaces, as root: `sysctl -w kernel.unprivileged_userns_clone=1`. To keep it, add the setting to a file in /etc/sysctl.d.";
    case "userns-limit":
      return "Raise the number of user namespaces, as root: `sysctl -w user.max_user_namespaces=15000`. To keep it, add the setting to a file in /etc/sysctl.d.";
    case "container":
      return `The worker runs where it may not make namespaces or mounts, such as in a container. Start the container with \`--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined\`, or run the worker outside. If the container itself is the boundary: ${TURN_OFF}`;
    case "masked-proc":
      return `The container hides parts of /proc. Start it with \`--security-opt systempaths=unconfined\` (Docker, Podman: \`unmask=ALL\`; Kubernetes: \`procMount: Unmasked\`). If the container itself is the boundary: ${TURN_OFF}`;
    case "inherited-descriptors":
      return "Install bash, or start the worker without these descriptors.";
    case "timeout":
      return "Run the command by hand and see where it waits; a file system that does not answer is a common reason.";
    case "other":
      return `Run \`${program} --unshare-all --ro-bind / / --proc /proc --dev /dev true\` by hand. ${TURN_OFF}`;
    default:
      return assertNever(obstacle);
  }
}
