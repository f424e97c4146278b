import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { isWithin, type SandboxPlan } from "./sandbox-plan.ts";
import { FILTER_ARCHITECTURES, type FilterArchitecture } from "./seccomp-filter.ts";
import { buildSelfTestPrograms, type SelfTestProgram } from "./self-test-programs.ts";

/** Where the forbidden acts of one self-test are tried, and what of the host they aim at. */
export type Scratch = {
  readonly workspace: string;
  /** An empty workspace. */
  readonly ownWorkspace: string;
  /** Programs of the acts, in a folder that a sandbox may read. */
  readonly tools: string;
  /** A folder of the host that a sandbox may read, but not write. */
  readonly outside: string;
  /** Files that do not exist, outside of every folder that may be written. */
  readonly newFiles: readonly string[];
  /** A word in the environment of a process of the host. */
  readonly secret: string;
  /** How many connections a listener of the host has accepted. */
  readonly countConnections: () => number;
  readonly remove: () => Promise<void>;
};

export type ScratchOptions = {
  /** The sandbox's own home folder. */
  readonly home: string;
  readonly writable: SandboxPlan["writable"];
  readonly holdfastHome: string;
  /** Folders of the system in which an act tries to create a file. */
  readonly systemFolders?: readonly string[];
};

/** An ordinary user may write only the last one, and root all of them. */
const SYSTEM_FOLDERS = ["/", "/usr", "/etc", "/var/tmp"];

/** What files that must not change contain. */
export const UNCHANGED = "unchanged\n";

/** Prepares the folder. Rejects if there is no place for it: all are writable in the sandbox, or run no programs. */
export async function createScratch(options: ScratchOptions): Promise<Scratch> {
  const { home, writable, systemFolders = SYSTEM_FOLDERS } = options;
  const architecture = FILTER_ARCHITECTURES.find((known) => known === process.arch);
  if (architecture === undefined) throw new Error(`There is no program of the self-test for ${process.arch}`);
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  let connections = 0;
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject).listen(0, "127.0.0.1", () => resolve());
  });
  const address = listener.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const secret = `secret-${randomUUID()}`;
  try {
    const { root, tools } = await createRoot(options, { architecture, port, home });
    const [workspace = "", ownWorkspace = "", outside = ""] = ["workspace", "ownWorkspace", "outside"].map(
      (name) => join(root, name),
    );
    for (const folder of [workspace, ownWorkspace, outside]) mkdirSync(folder);
    for (const name of ["written", "linked"]) writeFileSync(join(outside, name), UNCHANGED);
    symlinkSync(join(outside, "linked"), join(workspace, "link"));
    symlinkSync(outside, join(workspace, "link-to-folder"));
    const victim = spawn(join(tools, "wait"), [], { env: { HOLDFAST_SECRET: secret }, stdio: "ignore" });
    victim.on("error", () => {});
    return {
      workspace,
      ownWorkspace,
      tools,
      outside,
      newFiles: systemFolders
        .filter((folder) => !writable.some((other) => isWithin(folder, other)))
        .map((folder) => join(folder, `holdfast-self-test-${randomUUID()}`)),
      secret,
      countConnections: () => connections,
      remove: async () => {
        victim.kill("SIGKILL");
        listener.close();
        await rm(root, { recursive: true, force: true });
      },
    };
  } catch (error) {
    listener.close();
    throw error;
  }
}

/** Creates the folder with the programs, where they run and where the sandbox may not write. */
async function createRoot(
  { writable, holdfastHome }: ScratchOptions,
  target: { readonly architecture: FilterArchitecture; readonly port: number; readonly home: string },
): Promise<{ readonly root: string; readonly tools: string }> {
  const problems: string[] = [];
  for (const place of [tmpdir(), "/var/tmp", homedir()]) {
    let root: string | undefined;
    try {
      const folder = await realpath(place);
      if ([...writable, holdfastHome].some((other) => isWithin(folder, other))) {
        problems.push(`${place} is part of what a sandbox may write, or of Holdfast's folder`);
        continue;
      }
      root = await mkdtemp(join(folder, "holdfast-self-test-"));
      const tools = join(root, "tools");
      writePrograms(tools, buildSelfTestPrograms(target));
      await promisify(execFile)(join(tools, "nothing"));
      return { root, tools };
    } catch (error) {
      problems.push(`${place}: ${error instanceof Error ? error.message : String(error)}`);
      if (root !== undefined) await rm(root, { recursive: true, force: true });
    }
  }
  throw new Error(`No folder for the self-test: ${problems.join("; ")}`);
}

/**
 * Without a pause: a process that starts while a program is open for writing would keep it open for a moment, and the
 * kernel runs no such program.
 */
function writePrograms(folder: string, programs: Readonly<Record<SelfTestProgram, Buffer>>): void {
  mkdirSync(folder);
  for (const [name, content] of Object.entries(programs)) {
    const file = join(folder, name);
    writeFileSync(file, content);
    chmodSync(file, 0o755);
  }
}
