import { setTimeout as delay } from "node:timers/promises";
import { type DevServer, getLogFile, HOST, PROBE_EVERY_MS, PROBE_TIMEOUT_MS } from "./dev-server.ts";
import { findReadinessProblem, isListening } from "./server-readiness.ts";
import { readRecord, type ServerRecord } from "./server-record.ts";
import { ServerStartError } from "./server-start-error.ts";
import { isSupervisor, readLogTail } from "./spawn-server.ts";

/** The interval of checks of a server that this process has not started. It counts as gone after several failed checks. */
const POLL_INTERVAL_MS = 2_000;
const MAX_SILENT_POLLS = 3;

/** A server whose owner has just died needs up to its grace period to release the SQLite file. */
const RELEASE_TIMEOUT_MS = 10_000;

/** Joins a healthy server at the requested port or on the data folder; undefined if there is none. */
export async function joinRunningServer(
  dataDir: string,
  namespace: string,
  port: number,
): Promise<DevServer | undefined> {
  const record = await readRecord(dataDir);
  if (record !== undefined) await waitUntilReadyOrGone(record, namespace, getLogFile(dataDir));
  const requestedAddress = `${HOST}:${port}`;
  for (const address of [requestedAddress, record?.address]) {
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

/** Waits for the end of a server that another process has started, by its supervisor if it has one, and by its port. */
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
  return "unreachable";
}

/** Waits for a server that is ending, which still holds the SQLite file and the ports. Throws if the server hangs. */
async function waitUntilReadyOrGone(record: ServerRecord, namespace: string, logFile: string): Promise<void> {
  const { address, pid } = record;
  const until = Date.now() + RELEASE_TIMEOUT_MS;
  for (;;) {
    if (!(await isSupervisor(pid))) return;
    const problem = await findReadinessProblem({ address, namespace }, PROBE_TIMEOUT_MS);
    if (problem === undefined) return;
    if (Date.now() > until) {
      throw new ServerStartError(
        `process ${pid} already runs a server on this data folder, but the server does not answer: ${problem}`,
        { binary: "", args: [], logFile, logTail: await readLogTail(logFile) },
      );
    }
    await delay(PROBE_EVERY_MS);
  }
}
