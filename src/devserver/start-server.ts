import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SEARCH_ATTRIBUTES } from "../schema/search-attributes.ts";
import { findFreePort } from "./find-free-port.ts";
import { type FindServerOptions, findServer } from "./find-server.ts";
import { withFolderLock } from "./folder-lock.ts";
import { findReadinessProblem, isListening } from "./server-readiness.ts";
import { readRecord, type ServerRecord, writeRecord } from "./server-record.ts";
import { ServerStartError } from "./server-start-error.ts";
import { isSupervisor, readLogTail, type ServerProcess, spawnServer } from "./spawn-server.ts";

const HOST = "127.0.0.1";
/** As `config/home.ts` names it, which this room does not know. */
const SERVER_DATABASE = "temporal.sqlite";
const DEFAULT_PORT = 7233;
const DEFAULT_UI_PORT = 8233;

/** Up in half a second on two idle cores; a loaded machine gets patience. */
const START_TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 1_000;
const PROBE_EVERY_MS = 50;

/** The server says on which port it listens; one that says nothing is trusted after this long. */
const BANNER_TIMEOUT_MS = 2_000;

/** Another process may take a port between our look and the server's start; more often than this is no accident. */
const PORT_ATTEMPTS = 4;

const PORT_TAKEN = /address already in use|can't set \w+ port/i;

/** A server that we have only joined is looked for this often, and is gone when so many looks in a row have not found it. */
const POLL_INTERVAL_MS = 2_000;
const MAX_SILENT_POLLS = 3;

/** A server whose owner just died needs up to its grace period to let go of the SQLite file. */
const RELEASE_TIMEOUT_MS = 10_000;

/**
 * What makes the server fast: one shard polls 20 times a second by default, which caps one agent at 10 turns a second,
 * and SQLite without WAL serialises readers and writers. NORMAL may lose the last commits at a power cut only.
 *
 * And what lets a worker end without losing a task that is on its way to it, which would wait for its time-out.
 */
const TUNING = [
  ["--dynamic-config-value", "history.transferProcessorMaxPollRPS=1000"],
  ["--dynamic-config-value", "frontend.enableCancelWorkerPollsOnShutdown=true"],
  ["--sqlite-pragma", "journal_mode=WAL"],
  ["--sqlite-pragma", "synchronous=NORMAL"],
].flat();

/** Where the server keeps its state: a folder that stays, or one that is removed after the server's end. */
type DevServerStorage = { readonly dataDir: string } | { readonly ephemeral: true };

export type DevServerOptions = DevServerStorage & {
  readonly namespace?: string;
  /** Asked port; another free one is used when it is taken. 0 for any. Ephemeral servers take any by default. */
  readonly port?: number;
  readonly uiPort?: number;
  readonly startTimeoutMs?: number;
  readonly find?: FindServerOptions;
  /** No other port will do: who knows the server knows it there. */
  readonly samePorts?: boolean;
};

export interface DevServer {
  readonly address: string;
  readonly namespace: string;
  /** Absent when the server was not started by us and its UI is not known. */
  readonly uiUrl?: string;
  readonly logFile?: string;
  /** A server that we only joined: `stop` leaves it alone, and its search attributes are as its owner left them. */
  readonly alreadyRunning: boolean;
  /** Resolves when it has ended by itself, with how in words; with nothing once the signal is aborted. */
  waitUntilEnded(signal: AbortSignal): Promise<string | undefined>;
  stop(): Promise<void>;
}

/**
 * Starts a Temporal dev server on loopback and waits until it serves, or joins a healthy one at the asked address or
 * on the same data folder.
 *
 * It ends with this process, however this process ends.
 *
 * @throws ServerNotFoundError when there is no binary; ServerStartError when it does not come up.
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const namespace = options.namespace ?? "default";
  if ("ephemeral" in options) {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-server-"));
    try {
      return await launchServer(folder, namespace, options, { port: 0, uiPort: 0 }, folder);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
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

async function joinRunningServer(
  dataDir: string,
  namespace: string,
  port: number,
): Promise<DevServer | undefined> {
  const record = await readRecord(dataDir);
  if (record !== undefined) await waitUntilReadyOrGone(record, namespace, getLogFile(dataDir));
  const requestedPort = `${HOST}:${port}`;
  for (const address of [requestedPort, record?.address]) {
    if (
      address === undefined ||
      (await findReadinessProblem({ address, namespace }, PROBE_TIMEOUT_MS)) !== undefined
    )
      continue;
    return {
      address,
      namespace,
      ...(address === record?.address ? { uiUrl: record.uiUrl, logFile: getLogFile(dataDir) } : {}),
      alreadyRunning: true,
      waitUntilEnded: (signal) =>
        waitUntilGone(address, address === record?.address ? record.pid : undefined, signal),
      stop: async () => {},
    };
  }
  return undefined;
}

/** Of a server that somebody else has started. One of ours has a keeper; of others there is only the port. */
async function waitUntilGone(
  address: string,
  supervisor: number | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [host = "", port = ""] = address.split(":");
  for (let silentPolls = 0; silentPolls < MAX_SILENT_POLLS; ) {
    await delay(POLL_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return undefined;
    const isThere =
      (await isListening(host, Number(port))) ||
      (supervisor !== undefined && (await isSupervisor(supervisor)));
    silentPolls = isThere ? 0 : silentPolls + 1;
  }
  return "out of our sight";
}

/** A server that is ending still holds the SQLite file and the ports; one that hangs must not get a second beside it. */
async function waitUntilReadyOrGone(record: ServerRecord, namespace: string, logFile: string): Promise<void> {
  const { address, pid } = record;
  const until = Date.now() + RELEASE_TIMEOUT_MS;
  for (;;) {
    if (!(await isSupervisor(pid))) return;
    const problem = await findReadinessProblem({ address, namespace }, PROBE_TIMEOUT_MS);
    if (problem === undefined) return;
    if (Date.now() > until) {
      throw new ServerStartError(
        `process ${pid} already runs a server on this data folder, and it does not answer: ${problem}`,
        { binary: "", args: [], logFile, logTail: await readLogTail(logFile) },
      );
    }
    await delay(PROBE_EVERY_MS);
  }
}

/** @param throwAway - Folder to remove after the server's end. */
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
    const server = await spawnServer(binary, args, logFile, temporaryFolder);
    const address = `${HOST}:${port}`;
    const problem = await waitUntilReady(
      server,
      { address, namespace, uiPort, logFile },
      options.startTimeoutMs,
    );
    if (problem === undefined) {
      const uiUrl = `http://${HOST}:${uiPort}`;
      if (temporaryFolder === undefined) await writeRecord(dataDir, { pid: server.pid, address, uiUrl });
      return {
        address,
        namespace,
        uiUrl,
        logFile,
        alreadyRunning: false,
        waitUntilEnded: (signal) => raceAbort(server.ended, signal),
        stop: () => server.stop(),
      };
    }
    const tail = await readLogTail(logFile);
    await server.stop();
    usedPorts.push(port, uiPort);
    const mayChangePort = temporaryFolder === undefined && options.samePorts !== true;
    if (attempt < PORT_ATTEMPTS && mayChangePort && PORT_TAKEN.test(tail)) continue;
    throw new ServerStartError(problem, { binary, args, logFile, logTail: tail });
  }
}

function raceAbort(ended: Promise<string>, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const leave = () => resolve(undefined);
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    void ended.then((outcome) => {
      signal.removeEventListener("abort", leave);
      resolve(outcome);
    });
  });
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

/** Gives what is wrong, or undefined once the server and its UI answer. */
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
    // A healthy answer may come from another server that took the port first: ours then says so and ends.
    if (missing === undefined && !(await hasListeningBanner(wanted.address, wanted.logFile))) {
      if (Date.now() - started < BANNER_TIMEOUT_MS) missing = "it has not said that it listens";
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

function getLogFile(dataDir: string): string {
  return join(dataDir, "temporal-server.log");
}
