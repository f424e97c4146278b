import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { readProcess } from "../../../src/platform/process/process-table.ts";
import type { SandboxPlan } from "../../../src/platform/sandbox/sandbox-plan.ts";
import {
  type SandboxEnding,
  type SandboxedNetwork,
  type StartedSandbox,
  startSandbox,
} from "../../../src/platform/sandbox/start-sandbox.ts";
import { HOST } from "./host.ts";

export type Overrides = Partial<Omit<SandboxPlan, "descriptors">> & {
  readonly network?: SandboxedNetwork | undefined;
};

export type Workspace = { readonly folder: string; readonly holdfastHome: string };

/** A workspace and a Holdfast folder beside it, which are removed after the test. */
export async function createWorkspace(): Promise<Workspace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "holdfast-sandbox-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [folder, holdfastHome] = [join(root, "workspace"), join(root, "holdfast")];
  await mkdir(folder);
  await mkdir(holdfastHome);
  return { folder, holdfastHome };
}

/** What the marks of all calls of this process begin with. */
export const CALL_PREFIX = `sandbox-${process.pid}-`;

let calls = 0;

/** Starts a script, which waits for the line on `parentPipe`. */
export async function startScript(
  script: string,
  { folder, holdfastHome }: Workspace,
  { network, ...plan }: Overrides = {},
): Promise<StartedSandbox & { readonly call: string; readonly output: () => string }> {
  if (!HOST.able) throw new Error(HOST.remedy);
  calls += 1;
  const call = `${CALL_PREFIX}${calls}`;
  const sandbox = await startSandbox({
    plan: {
      mode: "workspace",
      workspace: folder,
      isReadOnly: false,
      cwd: folder,
      home: "/tmp/home",
      holdfastHome,
      readable: [],
      writable: [],
      env: { PATH: "/usr/bin:/bin", HOME: "/tmp/home", HOLDFAST_CALL: call, ...plan.env },
      protectedPaths: [],
      hiddenPaths: [],
      tmpfsBytes: 4 * 1024 * 1024,
      ...plan,
      ...(plan.env && { env: { HOLDFAST_CALL: call, ...plan.env } }),
    },
    programs: HOST.programs,
    command: "/bin/bash",
    args: ["-c", script],
    stdin: "ignore",
    network,
  });
  // Ends the watcher, and with it whatever a failed test has left.
  onTestFinished(() => void sandbox.parentPipe.destroy());
  let output = "";
  for (const stream of [sandbox.child.stdout, sandbox.child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return { ...sandbox, call, output: () => output };
}

/** Runs a script to its end. */
export async function runScript(
  script: string,
  workspace: Workspace,
  overrides: Overrides = {},
): Promise<{ readonly ending: SandboxEnding; readonly output: string }> {
  const sandbox = await startScript(script, workspace, overrides);
  sandbox.parentPipe.write("go\n");
  const closed = new Promise((resolve) => sandbox.child.once("close", resolve));
  const ending = await sandbox.ended;
  // The watcher holds the other end.
  sandbox.parentPipe.destroy();
  await closed;
  return { ending, output: sandbox.output() };
}

/** Finds the PID namespace of the sandbox of a call. */
export function findNamespace(call: string): string {
  const own = readNamespace("self");
  const namespaces = listPids()
    .filter((pid) => readText(`/proc/${pid}/environ`).split("\0").includes(`HOLDFAST_CALL=${call}`))
    .map(readNamespace)
    .filter((namespace) => namespace !== undefined && namespace !== own);
  const [found] = namespaces;
  if (found === undefined) throw new Error(`no sandbox of ${call} is running`);
  return found;
}

/** Lists the ids of all processes in a PID namespace, also of those that have left every group and have no marker. */
export function listMembers(namespace: string): number[] {
  return listPids()
    .filter((pid) => readNamespace(pid) === namespace)
    .map(Number)
    .filter((pid) => !/^[ZX]?$/.test(readProcess(pid)?.state ?? ""));
}

function listPids(): string[] {
  return readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
}

function readNamespace(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
