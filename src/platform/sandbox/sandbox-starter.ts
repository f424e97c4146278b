import { mkdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { CALL_VARIABLE } from "../process/process-group.ts";
import type { ProcessEnding, ProcessStarter } from "../process/process-starter.ts";
import { StartError } from "../process/start-group.ts";
import type { NetworkRule } from "../text/network-rule.ts";
import { type DeniedPath, findPathsToProtect, moveDeniedPaths, type UnmountedPaths } from "./denied-paths.ts";
import { findHiddenPaths } from "./find-hidden-paths.ts";
import type { SandboxPrograms } from "./find-sandbox-programs.ts";
import type { ConnectionReport } from "./network-proxy.ts";
import type { SandboxBounds } from "./sandbox-bounds.ts";
import { isWithin, type SandboxedMode, SandboxPlanError } from "./sandbox-plan.ts";
import type { SandboxProfile } from "./self-test.ts";
import { type SandboxEnding, startSandbox } from "./start-sandbox.ts";
import type { BoundExcess } from "./watch-bounds.ts";

/** What a sandbox is to contain and to allow. */
export type SandboxRequest = {
  readonly mode: SandboxedMode;
  /** Absolute. */
  readonly workspace: string;
  readonly isReadOnly: boolean;
  /** The folder of the worker's own data. */
  readonly holdfastHome: string;
  /** Absolute, or in the user's home folder with `~/`. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** Absent: no network. Empty: a proxy that refuses, and reports, every connection. */
  readonly rules?: readonly NetworkRule[] | undefined;
  readonly bounds?: Partial<SandboxBounds> | undefined;
  /** The size of each temporary file system. */
  readonly tmpfsBytes?: number | undefined;
};

export type SandboxEvents = {
  /** A connection was refused, or was made and has ended. */
  readonly onConnection: (report: ConnectionReport) => void;
  /** The command has created files that programs outside obey; they were moved aside. */
  readonly onDenied: (denied: readonly DeniedPath[]) => void;
};

export type SandboxAdmission = {
  /** Awaited before a command starts. Rejects with a `StartError` for a sandbox that nothing may run in. */
  readonly admit: (profile: SandboxProfile) => Promise<void>;
};

/** Each of the sandbox's temporary file systems is memory. */
const TMPFS_BYTES = 512 * 1024 * 1024;

/**
 * Creates what starts processes in a sandbox. Finds what the sandbox contains anew for each process, because commands change
 * the workspace. Nothing is started, and the start rejects with a `StartError`, if the profile cannot be realised.
 */
export function createSandboxStarter(
  request: SandboxRequest,
  programs: SandboxPrograms,
  { admit, onConnection, onDenied }: SandboxEvents & SandboxAdmission,
): ProcessStarter {
  return async (command) => {
    const { profile, unmounted } = await buildProfile(request, programs, command.cwd, command.env);
    await admit(profile);
    const started = await startSandbox({
      ...profile,
      command: command.command,
      args: command.args,
      stdin: command.stdin,
      ...(request.rules === undefined ? {} : { network: { rules: request.rules, onConnection } }),
    }).catch((error: unknown) => {
      if (error instanceof SandboxPlanError) throw new StartError(error.message, { cause: error });
      throw error;
    });
    const settle = async (ending: SandboxEnding): Promise<ProcessEnding> => {
      const denied = request.isReadOnly ? [] : await moveDeniedPaths(unmounted).catch(toProblem);
      if (typeof denied === "string") return { type: "failed", problem: denied };
      if (denied.length > 0) onDenied(denied);
      return toProcessEnding(ending);
    };
    return { ...started, ended: started.ended.then(settle) };
  };
}

function toProblem(error: unknown): string {
  return `What the command has created cannot be moved aside: ${error instanceof Error ? error.message : String(error)}`;
}

function toProcessEnding(ending: SandboxEnding): ProcessEnding {
  switch (ending.type) {
    case "not-started":
      return ending;
    case "over-bound":
      return { type: "failed", problem: `The sandbox was ended: ${EXCESSES[ending.bound](ending.limit)}` };
    case "ran":
    case "killed":
      return { type: "ran" };
  }
}

const EXCESSES: Readonly<Record<BoundExcess["bound"], (limit: number) => string>> = {
  processes: (limit) => `it had more than ${limit} processes`,
  threads: (limit) => `it had more than ${limit} threads`,
  memory: (limit) => `it used more than ${limit} bytes of memory`,
  workspace: (limit) =>
    `the command added more than ${limit} bytes to the workspace and other writable folders`,
};

export type BuiltProfile = { readonly profile: SandboxProfile; readonly unmounted: UnmountedPaths };

/** Finds what the sandbox of a command contains. Rejects with a `StartError`. */
export async function buildProfile(
  request: SandboxRequest,
  programs: SandboxPrograms,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<BuiltProfile> {
  const { rules } = request;
  const { plan, unmounted } = await buildPlan(request, cwd, env).catch((error: unknown) => {
    if (error instanceof StartError) throw error;
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
  });
  const network = rules === undefined ? {} : { network: { rules, onConnection: () => {} } };
  return { unmounted, profile: { plan, programs, ...network } };
}

async function buildPlan(
  profile: SandboxRequest,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly plan: SandboxProfile["plan"]; readonly unmounted: UnmountedPaths }> {
  const { mode, isReadOnly } = profile;
  // A worker whose data is in a database may have no folder yet; what is not there cannot be hidden.
  await mkdir(profile.holdfastHome, { recursive: true, mode: 0o700 });
  const home = await findHome();
  const [workspace, folder, holdfastHome, readable, writable, hiddenPaths] = await Promise.all([
    resolvePath(profile.workspace, home),
    resolvePath(cwd, home),
    realpath(profile.holdfastHome),
    Promise.all(profile.readable.map((path) => resolvePath(path, home))),
    Promise.all(profile.writable.map((path) => resolvePath(path, home))),
    findHiddenPaths(home),
  ]);
  const programFolders =
    mode === "workspace" ? await findProgramFolders(env["PATH"] ?? "", home, holdfastHome) : [];
  const { protectedPaths, unmounted } = await findPathsToProtect(isReadOnly ? [] : [workspace, ...writable]);
  const { [CALL_VARIABLE]: call, TMPDIR: _, ...variables } = env;
  return {
    unmounted,
    plan: {
      mode,
      workspace,
      isReadOnly,
      cwd: folder,
      home,
      holdfastHome,
      readable: [...readable, ...programFolders.filter((path) => !isWithin(workspace, path))],
      writable,
      env: { ...variables, HOME: home, ...(call === undefined ? {} : { [CALL_VARIABLE]: call }) },
      protectedPaths: [...new Set(protectedPaths)],
      hiddenPaths,
      tmpfsBytes: profile.tmpfsBytes ?? TMPFS_BYTES,
      bounds: profile.bounds,
    },
  };
}

/** A service may have no home folder of its own. */
const OTHER_HOME = "/tmp/home";

async function findHome(): Promise<string> {
  const home = await realpath(homedir()).catch(() => OTHER_HOME);
  return home === "/" ? OTHER_HOME : home;
}

async function resolvePath(path: string, home: string): Promise<string> {
  const absolute = path.startsWith("~/") ? join(home, path.slice(2)) : path;
  return await realpath(absolute).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`The sandbox cannot contain ${path}: ${error.code ?? error.message}`, {
      cause: error,
    });
  });
}

/** The folders beside `bin` from which the programs in it read their parts. */
const PARTS = ["lib", "lib64", "libexec", "include"];

/**
 * Finds the folders of programs that are installed in the user's home folder, such as those of a version manager. Only these
 * folders: what is beside them may be a secret.
 */
async function findProgramFolders(path: string, home: string, holdfastHome: string): Promise<string[]> {
  const folders = await Promise.all(
    path.split(":").map(async (entry) => {
      const folder = entry.startsWith("/") ? await realpath(entry).catch(() => undefined) : undefined;
      if (folder === undefined || folder === home || !isWithin(folder, home)) return [];
      if (isWithin(folder, holdfastHome)) return [];
      const above = dirname(folder);
      const isOwnTree = basename(folder) === "bin" && above !== home && basename(above) !== ".local";
      return [folder, ...(isOwnTree ? PARTS.map((part) => join(above, part)) : [])];
    }),
  );
  const unique = [...new Set(folders.flat())];
  const areFolders = await Promise.all(
    unique.map(async (folder) => (await stat(folder).catch(() => undefined))?.isDirectory() === true),
  );
  return unique.filter((_, index) => areFolders[index]);
}
