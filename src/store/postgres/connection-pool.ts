import pg from "pg";
import type { DatabaseTarget } from "./database-target.ts";
import { TYPES } from "./values.ts";

/** How long a connection may take to be made, and how long one of a pool that is in use is waited for. */
const CONNECT_MS = 5_000;
/** A connection that nobody needs is closed after this. */
const IDLE_MS = 30_000;
const KEEP_ALIVE_MS = 10_000;

export type ConnectionLimits = {
  /** Of one statement; one that takes longer is ended by the server. */
  readonly statementMs: number;
  /** Of waiting for a lock that another transaction holds. */
  readonly lockMs: number;
  /** Of a transaction that is asked nothing: its process may be stopped, or gone without a word. */
  readonly idleMs: number;
};

/** What a server that does not answer at all is given beyond its own limits. */
const QUERY_TIMEOUT_MARGIN_MS = 5_000;

export type Connection = pg.ClientBase & {
  /** Back to the pool; or away, when it may be in no state for others. */
  release(away?: boolean): void;
};

/** The settings of one connection, of a pool or by itself. */
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
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(database === undefined ? {} : { database }),
  };
}

/**
 * A bounded pool of connections. They carry no settings of their own, so that a pooler may hand each transaction to
 * another one.
 */
export class ConnectionPool {
  readonly #pool: pg.Pool;

  constructor(target: DatabaseTarget, limits: ConnectionLimits, max: number) {
    this.#pool = new pg.Pool({
      ...buildConnectionConfig(target, limits),
      max,
      // Statements are sent without waiting for the answer to the one before.
      pipeline: true,
      idleTimeoutMillis: IDLE_MS,
      allowExitOnIdle: true,
    });
    // The pool forgets a connection that breaks while nobody uses it; in use, its statement says so.
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
  }

  async connect(): Promise<Connection> {
    const client = await this.#pool.connect();
    return Object.assign(client, {
      release: createRelease(client, client.release.bind(client)),
    }) as Connection;
  }

  /** Waits for those that are in use, but not for a server that is silent. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CONNECT_MS);
    });
    await Promise.race([this.#pool.end(), timeout]);
    clearTimeout(timer);
  }
}

/** Away means at once: a goodbye would wait for statements that may never be answered. */
function createRelease(client: pg.PoolClient, release: (away?: boolean) => void): (away?: boolean) => void {
  return (away = false) => {
    if (away) destroyClient(client);
    release(away);
  };
}

/** Ends a connection without a word to the server. */
export function destroyClient(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } };
  connection?.stream?.destroy();
}
