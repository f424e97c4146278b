import pg from "pg";
import { raceTimeout } from "../../platform/async/race.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { DatabaseTarget } from "./database-target.ts";
import { TYPES } from "./values.ts";

/** The time limit to open a connection, and to wait for one if the whole pool is in use. */
const CONNECT_MS = 5_000;
/** An unused connection is closed after this time. */
const IDLE_MS = 30_000;
const KEEP_ALIVE_MS = 10_000;

export type ConnectionLimits = {
  /** The time limit of one statement; the server cancels longer ones. */
  readonly statementMs: number;
  /** The time limit of a wait for a lock of another transaction. */
  readonly lockMs: number;
  /** The time limit of an idle transaction: its process may be stopped or dead. */
  readonly idleMs: number;
};

/** The additional time, beyond the server's own limits, after which an unresponsive server counts as lost. */
const QUERY_TIMEOUT_MARGIN_MS = 5_000;

export type Connection = pg.ClientBase & {
  /** Returns the connection to the pool, or destroys it (`away`) if it may be unusable. */
  release(away?: boolean): void;
};

/** Builds the settings of one connection, in a pool or separate. */
export function buildConnectionConfig(
  target: DatabaseTarget,
  { statementMs, lockMs }: ConnectionLimits,
): pg.ClientConfig {
  const { host, port, user, password, database, ssl, applicationName } = target;
  return {
    host,
    port,
    ssl,
    application_name: applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: statementMs + lockMs + QUERY_TIMEOUT_MARGIN_MS,
    types: TYPES,
    ...omitUndefined({ user, password, database }),
  };
}

/**
 * A bounded pool of connections. They have no session settings, so that a pooler can run each transaction on another
 * connection.
 */
export class ConnectionPool {
  readonly #pool: pg.Pool;

  constructor(target: DatabaseTarget, limits: ConnectionLimits, max: number) {
    this.#pool = new pg.Pool({
      ...buildConnectionConfig(target, limits),
      max,
      // Statements are sent without waiting for the answer to the previous one.
      pipeline: true,
      idleTimeoutMillis: IDLE_MS,
      allowExitOnIdle: true,
    });
    // The pool removes a connection that breaks while unused. A used one fails its statement.
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
  }

  async connect(): Promise<Connection> {
    const client = await this.#pool.connect();
    return Object.assign(client, {
      release: createRelease(client, client.release.bind(client)),
    }) as Connection;
  }

  /** Waits for connections in use, but not for an unresponsive server. */
  async close(): Promise<void> {
    await raceTimeout(this.#pool.end(), CONNECT_MS);
  }
}

/** Creates the release function. `away` closes at once: an orderly end would wait for pending statements. */
function createRelease(client: pg.PoolClient, release: (away?: boolean) => void): (away?: boolean) => void {
  return (away = false) => {
    if (away) destroyClient(client);
    release(away);
  };
}

/** Closes a connection without notice to the server. */
export function destroyClient(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } };
  connection?.stream?.destroy();
}
