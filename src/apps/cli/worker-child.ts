import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { DATABASE_URL } from "../../config/database-url.ts";
import { SECRETS_PIPE } from "../../config/receive-environment.ts";
import { findSecretVariables } from "../../config/secret-variables.ts";
import { readDrainMs } from "../../config/worker-environment.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { SandboxMode } from "../../schema/sandbox.ts";

/** The descriptor after standard input, output and error. */
const SECRETS_DESCRIPTOR = 3;

/** The server, task queue and options of a worker process. */
export type WorkerTarget = {
  readonly home?: string | undefined;
  /** Passed in the environment, because other users can read command lines. */
  readonly database?: string | undefined;
  readonly address?: string | undefined;
  readonly namespace?: string | undefined;
  readonly taskQueue?: string | undefined;
  readonly profile?: string | undefined;
  /** Modules that export a tool or a list of tools by default. */
  readonly tools?: readonly string[] | undefined;
  readonly deadWorkerDetection?: boolean | undefined;
  /** How many seconds running steps may take to end after a stop request. */
  readonly drain?: string | undefined;
  readonly buildId?: string | undefined;
  readonly deployment?: string | undefined;
  readonly versioning?: string | undefined;
  /** The sandbox of definitions that state none; that of the environment if absent. */
  readonly sandbox?: SandboxMode | undefined;
};

/** The first line that a worker prints. */
export type WorkerReady = {
  readonly type: "ready";
  readonly id: string;
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly pid: number;
};

export type WorkerEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A worker process of this command. A Ctrl-C at the terminal does not reach it; this command ends it. */
export type WorkerChild = {
  readonly process: ChildProcess;
  /** Resolves when the worker polls; `undefined` if it ended before. */
  readonly ready: Promise<WorkerReady | undefined>;
  readonly ended: Promise<WorkerEnd>;
};

export function buildWorkerArguments(target: WorkerTarget): string[] {
  const { home, address, namespace, taskQueue, tools = [], deadWorkerDetection } = target;
  const { drain, buildId, deployment, versioning, sandbox } = target;
  return [
    ...(home === undefined ? [] : ["--home", home]),
    ...(address === undefined ? [] : ["--address", address]),
    ...(namespace === undefined ? [] : ["--namespace", namespace]),
    ...(taskQueue === undefined ? [] : ["--task-queue", taskQueue]),
    ...tools.flatMap((file) => ["--tools", file]),
    ...(deadWorkerDetection === false ? ["--no-dead-worker-detection"] : []),
    ...(drain === undefined ? [] : ["--drain", drain]),
    ...(buildId === undefined ? [] : ["--build-id", buildId]),
    ...(deployment === undefined ? [] : ["--deployment", deployment]),
    ...(versioning === undefined ? [] : ["--versioning", versioning]),
    ...(sandbox === undefined ? [] : ["--sandbox", sandbox]),
  ];
}

/** @param options.onLog - Receives the worker's standard error; inherited if absent. */
export function spawnWorker(
  target: WorkerTarget,
  options: {
    readonly env: NodeJS.ProcessEnv;
    readonly onLog?: (chunk: Buffer) => void;
    readonly program?: readonly string[];
  },
): WorkerChild {
  const exitWithParent = new URL("./exit-with-parent.js", import.meta.url);
  const isBuilt = options.program === undefined && existsSync(fileURLToPath(exitWithParent));
  const program = options.program ?? [
    ...(isBuilt ? ["--import", new URL("./receive-secrets.js", import.meta.url).href] : []),
    ...(isBuilt ? ["--import", exitWithParent.href] : []),
    fileURLToPath(new URL("../../worker.js", import.meta.url)),
  ];
  const all = {
    ...options.env,
    ...omitUndefined({ TEMPORAL_PROFILE: target.profile }),
    ...(target.database === undefined ? {} : { [DATABASE_URL]: target.database }),
  };
  const { env, secrets } = isBuilt ? splitSecrets(all) : { env: all, secrets: undefined };
  const child = spawn(process.execPath, [...program, ...buildWorkerArguments(target)], {
    stdio: [
      "pipe",
      "pipe",
      options.onLog === undefined ? "inherit" : "pipe",
      ...(secrets === undefined ? [] : ["pipe" as const]),
    ],
    detached: true,
    env,
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => undefined);
  if (secrets !== undefined) sendSecrets(secrets, child);
  if (options.onLog !== undefined) child.stderr?.on("data", options.onLog);
  const ended = new Promise<WorkerEnd>((resolve) => {
    child.on("error", () => resolve({ code: 1, signal: null }));
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  const readyMessage = new Promise<WorkerReady>((resolve) => {
    createInterface({ input: child.stdout! }).on("line", (line) => {
      const ready = parseReadyLine(line);
      if (ready !== undefined) resolve(ready);
    });
  });
  return { process: child, ready: Promise.race([readyMessage, ended.then(() => undefined)]), ended };
}

/** Splits a worker's environment into variables that /proc may expose, and secrets, which go through a pipe. */
function splitSecrets(all: NodeJS.ProcessEnv): {
  readonly env: NodeJS.ProcessEnv;
  readonly secrets: NodeJS.ProcessEnv | undefined;
} {
  const names = new Set(findSecretVariables(all).map(({ name }) => name));
  if (names.size === 0) return { env: all, secrets: undefined };
  const pickVariables = (isSecret: boolean) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name) === isSecret));
  return {
    env: { ...pickVariables(false), [SECRETS_PIPE]: `${SECRETS_DESCRIPTOR}` },
    secrets: pickVariables(true),
  };
}

function sendSecrets(secrets: NodeJS.ProcessEnv, child: ChildProcess): void {
  const pipe = child.stdio[SECRETS_DESCRIPTOR] as Writable;
  // The exit code reports a worker that ends before it has read the secrets.
  pipe.on("error", () => undefined);
  pipe.end(JSON.stringify(secrets));
}

function parseReadyLine(line: string): WorkerReady | undefined {
  try {
    const value = JSON.parse(line) as WorkerReady;
    return value.type === "ready" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** By default, a worker drains for 10 s, and needs less than 12 s to release the remaining steps. */
const DRAIN_MS = 10_000;
const RELEASE_MS = 12_000;

/** Drains a worker, and kills it if it does not end before the deadline. */
export async function endWorker(
  child: WorkerChild,
  deadlineMs = (readDrainMs(process.env) ?? DRAIN_MS) + RELEASE_MS,
): Promise<WorkerEnd> {
  child.process.kill("SIGTERM");
  const timer = setTimeout(() => child.process.kill("SIGKILL"), deadlineMs);
  const end = await child.ended;
  clearTimeout(timer);
  return end;
}
