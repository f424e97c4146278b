import { type FileHandle, mkdir, mkdtemp, open, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { raceAbort } from "../platform/async/race.ts";
import { SEARCH_ATTRIBUTES } from "../schema/search-attributes.ts";
import { type DevServer, getLogFile, HOST, PROBE_EVERY_MS, PROBE_TIMEOUT_MS } from "./dev-server.ts";
import { findFreePort } from "./find-free-port.ts";
import { type FindServerOptions, findServer } from "./find-server.ts";
import { withFolderLock } from "./folder-lock.ts";
import { joinRunningServer } from "./join-server.ts";
import { findReadinessProblem, isListening } from "./server-readiness.ts";
import { writeRecord } from "./server-record.ts";
import { ServerStartError } from "./server-start-error.ts";
import { dropStack, readLogTail, readTail, type ServerProcess, spawnServer } from "./spawn-server.ts";

/** The same name as in `config/home.ts`, which this folder must not import. */
const SERVER_DATABASE = "temporal.sqlite";
const DEFAULT_PORT = 7233;
const DEFAULT_UI_PORT = 8233;

/** The server starts in half a second on two idle cores. A loaded machine needs more time. */
const START_TIMEOUT_MS = 60_000;

/** The server prints the port on which it listens. After this long it counts as ready without that line. */
const BANNER_TIMEOUT_MS = 2_000;

/** Attempts to find a free port: another process can take one between the check and the server's start. */
const PORT_ATTEMPTS = 4;

const PORT_TAKEN = /address already in use|can't set \w+ port/i;

/** The server's own services listen on ports that it chooses. If one is taken, it ends with a long stack after the reason. */
const LOG_BYTES_OF_START = 64_000;
/** How much of the log an error shows, without the stack. */
const LOG_CHARS_OF_ERROR = 2_000;

/**
 * Settings that make the server fast. By default one shard polls 20 times a second, which limits one agent to 10 turns a
 * second, and SQLite without WAL serialises readers and writers. NORMAL can lose the last commits only at a power failure.
 *
 * `enableCancelWorkerPollsOnShutdown` lets a worker end without losing a task in transit, which would wait for its timeout.
 */
const TUNING = [
  ["--dynamic-config-value", "history.transferProcessorMaxPollRPS=1000"],
  ["--dynamic-config-value", "frontend.enableCancelWorkerPollsOnShutdown=true"],
  ["--sqlite-pragma", "journal_mode=WAL"],
  ["--sqlite-pragma", "synchronous=NORMAL"],
].flat();

/** The storage of the server's state: a permanent folder, or a temporary one that is removed after the server's end. */
type DevServerStorage = { readonly dataDir: string } | { readonly ephemeral: true };

export type DevServerOptions = DevServerStorage & {
  readonly namespace?: string;
  /** The preferred port; if it is taken, another free one is used. 0 for any. Ephemeral servers use any by default. */
  readonly port?: number;
  readonly uiPort?: number;
  readonly startTimeoutMs?: number;
  readonly find?: FindServerOptions;
  /** Fails if the given ports are taken, because clients know the server by them. */
  readonly samePorts?: boolean;
};

/**
 * Starts a Temporal dev server on loopback and waits until it serves, or joins a healthy one at the requested address or
 * on the same data folder.
 *
 * A server that it starts ends with this process, in whatever way this process ends.
 *
 * @throws ServerNotFoundError if there is no binary; ServerStartError if the server does not start.
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const namespace = options.namespace ?? "default";
  if ("ephemeral" in options) {
    for (let attempt = 1; ; attempt += 1) {
      // The folder of a server that ended is removed by its supervisor.
      const folder = await mkdtemp(join(tmpdir(), "holdfast-server-"));
      try {
        return await launchServer(folder, namespace, options, { port: 0, uiPort: 0 }, folder);
      } catch (error) {
        await rm(folder, { recursive: true, force: true });
        if (attempt < PORT_ATTEMPTS && error instanceof ServerStartError && error.isPortTaken) continue;
        throw error;
      }
    }
  }

  const { dataDir } = options;
  await mkdir(dataDir, { recursive: true });
  return withFolderLock(join(dataDir, "server.lock"), START_TIMEOUT_MS, async () => {
    const running = await joinRunningServer(dataDir, namespace, options.port ?? DEFAULT_PORT);
    if (running !== undefined) return running;
    return launchServer(
      dataDir,
      namespace,
      options,
      { port: DEFAULT_PORT, uiPort: DEFAULT_UI_PORT },
      undefined,
    );
  });
}

/** @param temporaryFolder - A folder to remove after the server's end. */
async function launchServer(
  dataDir: string,
  namespace: string,
  options: DevServerOptions,
  defaultPorts: { readonly port: number; readonly uiPort: number },
  temporaryFolder: string | undefined,
): Promise<DevServer> {
  const { path: binary } = await findServer(options.find);
  const logFile = getLogFile(dataDir);
  const usedPorts: number[] = [];
  for (let attempt = 1; ; attempt += 1) {
    await rename(logFile, `${logFile}.previous`).catch(() => {});
    const port = await findFreePort(options.port ?? defaultPorts.port, usedPorts);
    const uiPort = await findFreePort(options.uiPort ?? defaultPorts.uiPort, [...usedPorts, port]);
    const args = buildServerArguments(dataDir, namespace, port, uiPort);
    if (options.samePorts === true && (port !== options.port || uiPort !== (options.uiPort ?? uiPort))) {
      const problem = `port ${options.port} or ${options.uiPort} is taken by another program`;
      throw new ServerStartError(problem, { binary, args, logFile, logTail: "" });
    }
    const address = `${HOST}:${port}`;
    const { server, problem, logTail, isPortTaken } = await withOpenLog(logFile, async (log) => {
      const server = await spawnServer(binary, args, logFile, temporaryFolder);
      const wanted = { address, namespace, uiPort, logFile };
      const problem = await waitUntilReady(server, wanted, options.startTimeoutMs);
      const logOfStart = await readTail(log, LOG_BYTES_OF_START);
      const logTail = dropStack(logOfStart).slice(-LOG_CHARS_OF_ERROR);
      return { server, problem, logTail, isPortTaken: PORT_TAKEN.test(logOfStart) };
    });
    if (problem === undefined) {
      const uiUrl = `http://${HOST}:${uiPort}`;
      if (temporaryFolder === undefined) await writeRecord(dataDir, { pid: server.pid, address, uiUrl });
      return {
        address,
        namespace,
        uiUrl,
        logFile,
        alreadyRunning: false,
        waitUntilEnded: (signal) => raceAbort(server.ended, signal).catch(() => undefined),
        stop: () => server.stop(),
      };
    }
    await server.stop();
    usedPorts.push(port, uiPort);
    const mayChangePort = temporaryFolder === undefined && options.samePorts !== true;
    if (attempt < PORT_ATTEMPTS && mayChangePort && isPortTaken) continue;
    throw new ServerStartError(problem, { binary, args, logFile, logTail }, isPortTaken);
  }
}

/** Opens the log before the work: a server that ends at once takes its temporary folder with it. */
async function withOpenLog<T>(logFile: string, work: (log: FileHandle) => Promise<T>): Promise<T> {
  const log = await open(logFile, "a+", 0o600);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

function buildServerArguments(
  dataDir: string,
  namespace: string,
  port: number,
  uiPort: number,
): readonly string[] {
  const attributes = Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => [
    "--search-attribute",
    `${name}=${type}`,
  ]);
  return [
    ...["server", "start-dev", "--ip", HOST, "--port", `${port}`, "--ui-port", `${uiPort}`],
    ...["--namespace", namespace, "--db-filename", join(dataDir, SERVER_DATABASE)],
    ...TUNING,
    ...attributes,
  ];
}

/** Waits for the server and its UI. Returns the problem, or undefined on success. */
async function waitUntilReady(
  server: ServerProcess,
  wanted: { address: string; namespace: string; uiPort: number; logFile: string },
  timeoutMs = START_TIMEOUT_MS,
): Promise<string | undefined> {
  const started = Date.now();
  const attributes = Object.keys(SEARCH_ATTRIBUTES);
  for (;;) {
    let missing = await findReadinessProblem({ ...wanted, attributes }, PROBE_TIMEOUT_MS);
    if (missing === undefined && !(await isListening(HOST, wanted.uiPort)))
      missing = "its UI does not listen yet";
    // A healthy answer can come from another server that took the port first. The new server then reports this and ends.
    if (missing === undefined && !(await hasListeningBanner(wanted.address, wanted.logFile))) {
      if (Date.now() - started < BANNER_TIMEOUT_MS) missing = "it has not reported that it listens";
    }
    if (!server.isRunning()) return "it ended by itself";
    if (missing === undefined) return undefined;
    if (Date.now() - started > timeoutMs) return `it was not ready after ${timeoutMs / 1000} s: ${missing}`;
    await delay(PROBE_EVERY_MS);
  }
}

async function hasListeningBanner(address: string, logFile: string): Promise<boolean> {
  const port = address.slice(address.lastIndexOf(":"));
  return new RegExp(`Server: +\\S+${port}\\b`).test(await readLogTail(logFile, 64_000));
}
