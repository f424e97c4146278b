import { randomUUID } from "node:crypto";
import type { SchemaPart } from "./migrate.ts";

// Resolves a lost COMMIT. A write inserts a random token into a table of its part, in the same transaction. To determine
// the outcome, another transaction inserts the same token as given up. The primary key admits only one of the two, so
// the answer is final: a write whose token is given up can no longer be committed.
//
// Transaction ids do not suffice. After a crash or a failover PostgreSQL reuses transaction ids whose WAL had not reached
// the disk or the standby: the id of a lost write may then belong to another committed write.

/** How long a token is retained, in milliseconds from the start of its transaction, by the database's clock. */
const RETENTION_MS = 10 * 60_000;
/** How long a token's outcome can be queried: well below the retention. */
const MAX_QUERY_AGE_MS = 5 * 60_000;
/** One write in `oneIn` removes up to `tokens` old tokens, more than are added in that time. */
const SWEEP = { oneIn: 64, tokens: 1024 };

/** The identity of one attempt to commit. */
export type CommitAttempt = {
  readonly token: string;
  readonly startedAtMs: number;
  /** The server's session and its transaction's start, used to terminate a transaction that still hangs. */
  readonly pid: number;
  readonly startedAt: string;
};

/**
 * Creates the table of a part's tokens. It must be as durable as the part's own tables: if a crash empties those, it must
 * empty the tokens too.
 */
export function createCommitsTableSql(
  part: SchemaPart["name"],
  kind: "logged" | "unlogged" = "logged",
): string {
  return `
CREATE ${kind === "logged" ? "" : "UNLOGGED "}TABLE ${part}_commits (
  -- By the database's clock. First in the key, so that tokens are added and swept at the ends of the index.
  started_at_ms BIGINT NOT NULL,
  token UUID NOT NULL,
  -- 1: the write was committed. 0: it was given up, and can no longer be committed.
  committed BIGINT NOT NULL,
  PRIMARY KEY (started_at_ms, token)
);
`;
}

const NOW_MS = "floor(extract(epoch FROM transaction_timestamp()) * 1000)::bigint";

/** Columns of a statement at a transaction's start. With a token, they form its `CommitAttempt`. */
export const ATTEMPT_COLUMNS = `${NOW_MS} AS "startedAtMs", transaction_timestamp()::text AS "startedAt",
  pg_backend_pid() AS pid`;

export function createToken(): string {
  return randomUUID();
}

/**
 * Builds the statements that commit a transaction, as one message. A transaction without writes stores no token: giving it
 * up and restarting it has no effect.
 *
 * The time limit is removed for the commit itself: if it ended a wait for a synchronous standby, the server would report
 * success.
 */
export function buildCommitSql(part: SchemaPart["name"], { token, startedAtMs }: CommitAttempt): string {
  const table = `${part}_commits`;
  const sweeps = Math.random() * SWEEP.oneIn < 1;
  return [
    ...(sweeps ? [buildSweepSql(table)] : []),
    `INSERT INTO ${table} (started_at_ms, token, committed)
     SELECT ${startedAtMs}, '${token}', 1 WHERE pg_current_xact_id_if_assigned() IS NOT NULL`,
    "SET LOCAL statement_timeout = 0",
    "COMMIT",
  ].join("; ");
}

function buildSweepSql(table: string): string {
  return `DELETE FROM ${table} WHERE (started_at_ms, token) IN (
    SELECT started_at_ms, token FROM ${table} WHERE started_at_ms < ${NOW_MS} - ${RETENTION_MS}
    ORDER BY started_at_ms LIMIT ${SWEEP.tokens} FOR UPDATE SKIP LOCKED)`;
}

/**
 * Terminates a session that still holds the transaction open and waits for the next statement of its lost client, because
 * its locks block other writes. A session that is committing ends by itself.
 */
export function buildTerminateSql({ pid, startedAt }: CommitAttempt): string {
  return `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = ${pid} AND xact_start = '${startedAt}'::timestamptz AND state LIKE 'idle in transaction%'`;
}

/**
 * Gives a write up unless it was committed, and reports which. Waits for a commit in progress. The caller begins and
 * commits. No row means that too much time has passed to tell.
 */
export function buildGiveUpSql(
  part: SchemaPart["name"],
  { token, startedAtMs }: CommitAttempt,
): readonly string[] {
  const table = `${part}_commits`;
  return [
    `INSERT INTO ${table} (started_at_ms, token, committed)
     SELECT ${startedAtMs}, '${token}', 0 WHERE ${NOW_MS} - ${startedAtMs} < ${MAX_QUERY_AGE_MS} ON CONFLICT DO NOTHING`,
    `SELECT committed FROM ${table} WHERE started_at_ms = ${startedAtMs} AND token = '${token}'`,
  ];
}
