import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { resolveBuiltFile } from "./built-file.ts";

/** How a worker process is started. */
export type WorkerProcessOptions = {
  readonly address: string;
  readonly namespace: string;
  /** The folder of the transcript and of live output. */
  readonly home: string;
  readonly taskQueue?: string | undefined;
  /**
   * Variables that are added to this process's environment, such as the keys of vendors. Agents without a sandbox of their
   * own run without one, unless `HOLDFAST_SANDBOX` says otherwise here or in this process's environment.
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Modules that export a tool or a list of tools by default. */
  readonly tools?: readonly string[] | undefined;
  /** False: dead workers are found only by missing heartbeats, as on a lost host. */
  readonly deadWorkerDetection?: boolean | undefined;
  /** How long the worker may take until it polls; 30 s by default. */
  readonly startTimeoutMs?: number | undefined;
};

/** How a worker process has ended. */
export type WorkerExit = {
  /** The exit code; `null` if a signal ended the process. */
  readonly code: number | null;
  /** The signal that ended the process; `null` if none did. */
  readonly signal: NodeJS.Signals | null;
};

/** A worker in its own process, which a test can kill. */
export type WorkerProcess = {
  /** The id of the process. */
  readonly pid: number;
  /** The id under which the worker is registered, which claims contain. */
  readonly id: string;
  readonly taskQueue: string;
  /** Sends a signal that ends the process; resolves when it has ended. */
  kill(signal?: NodeJS.Signals): Promise<WorkerExit>;
  /** Sends a signal that does not end the process, such as SIGSTOP. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the process has ended. */
  readonly exited: Promise<WorkerExit>;
  /** Returns what the worker has written to standard error so far. */
  stderr(): string;
};

const START_TIMEOUT_MS = 30_000;

/** Starts the package's own worker and waits until it reports that it is ready. */
export async function startWorkerProcess(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [resolveBuiltFile("worker.js"), ...buildArguments(options)], {
    stdio: ["ignore", "pipe", "pipe"],
    // Tests run on hosts that cannot make a sandbox, too.
    env: { HOLDFAST_SANDBOX: "off", ...process.env, ...options.env },
  });
  for (const stream of [child.stdout, child.stderr]) stream.on("error", () => undefined);
  const killOnExit = () => child.kill("SIGKILL");
  process.once("exit", killOnExit);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const exited = new Promise<WorkerExit>((resolve) => {
    child.once("exit", (code, signal) => {
      process.removeListener("exit", killOnExit);
      resolve({ code, signal });
    });
  });
  try {
    const { id, taskQueue } = await waitForReadyLine(
      child,
      exited,
      options.startTimeoutMs ?? START_TIMEOUT_MS,
    );
    return {
      pid: child.pid as number,
      id,
      taskQueue,
      kill: (signal = "SIGKILL") => {
        child.kill(signal);
        return exited;
      },
      signal: (signal) => void child.kill(signal),
      exited,
      stderr: () => stderr,
    };
  } catch (error) {
    child.kill("SIGKILL");
    throw new Error(`The worker did not start: ${(error as Error).message}\n${stderr}`);
  }
}

function buildArguments({
  address,
  namespace,
  home,
  taskQueue,
  tools = [],
  deadWorkerDetection,
}: WorkerProcessOptions) {
  return [
    ...["--address", address, "--namespace", namespace, "--home", home],
    ...(taskQueue === undefined ? [] : ["--task-queue", taskQueue]),
    ...tools.flatMap((file) => ["--tools", file]),
    ...(deadWorkerDetection === false ? ["--no-dead-worker-detection"] : []),
  ];
}

async function waitForReadyLine(
  child: ChildProcess,
  exited: Promise<WorkerExit>,
  timeoutMs: number,
): Promise<{ id: string; taskQueue: string }> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`not ready after ${timeoutMs} ms`)), timeoutMs);
      child.once("error", reject);
      void exited.then(({ code, signal }) => reject(new Error(`the process ended with ${signal ?? code}`)));
      lines.on("line", (line) => {
        if (!line.startsWith('{"type":"ready"')) return;
        resolve(JSON.parse(line) as { id: string; taskQueue: string });
      });
    });
  } finally {
    clearTimeout(timer);
    lines.close();
    child.stdout?.resume();
  }
}
