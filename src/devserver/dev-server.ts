import { join } from "node:path";

/** Dev servers listen on loopback only. */
export const HOST = "127.0.0.1";

export const PROBE_TIMEOUT_MS = 1_000;
export const PROBE_EVERY_MS = 50;

/** A Temporal server of the current machine that answers. */
export interface DevServer {
  readonly address: string;
  readonly namespace: string;
  /** Absent if this process did not start the server and its UI is unknown. */
  readonly uiUrl?: string;
  /** The file of the server's log. Absent if this process did not start the server. */
  readonly logFile?: string;
  /** This process did not start the server: `stop` does nothing, and its search attributes are unchanged. */
  readonly alreadyRunning: boolean;
  /** Resolves when the server has ended by itself, with a text that says how, or with undefined if the signal is aborted. */
  waitUntilEnded(signal: AbortSignal): Promise<string | undefined>;
  /** Ends the server that this process started, and resolves when it has ended. */
  stop(): Promise<void>;
}

export function getLogFile(dataDir: string): string {
  return join(dataDir, "temporal-server.log");
}
