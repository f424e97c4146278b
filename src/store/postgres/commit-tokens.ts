import { randomUUID } from "node:crypto";
import type { SchemaPart } from "./migrate.ts";

// How a lost COMMIT is resolved. A write inserts a random token into a table of its part, in the same transaction.
// Whoever has to know what became of it inserts the same token as given up. The primary key admits one of the two, so
// that the answer is final: a write whose token is given up can no longer be committed.
//
// No number of the server's would do. After a crash or a failover PostgreSQL hands out transaction ids again whose WAL
// had not reached the disk, or the standby: the id of a lost write may by then belong to another one that was committed.

/** How long a token is kept, in milliseconds from the beginning of its transaction, by the database's clock. */
const RETENTION_MS = 10 * 60_000;
/** How long its fate may be asked for: well before it may be swept. */
const MAX_QUERY_AGE_MS = 5 * 60_000;
/** One write in so many sweeps, and how many tokens it removes: more than were added meanwhile. */
const SWEEP = { oneIn: 64, tokens: 1024 };

/** What identifies one attempt to commit. */
export type CommitAttempt = {
  readonly token: string;
  readonly begunAtMs: number;
  /** The server's session and its transaction's start, to end one that still hangs there. */
  readonly pid: number;
  readonly begunAt: string;
};

/**
 * The table of a part's tokens. It must share the fate of the part's own tables: where a crash empties these, the
 * tokens go with them.
 */
export function createCommitsTableSql(
  part: SchemaPart["name"],
  kind: "logged" | "unlogged" = "logged",
): string {
  return `
CREATE ${kind === "logged" ? "" : "UNLOGGED "}TABLE ${part}_commits (
  -- By the database's clock. First in the key, so that tokens are added and swept at the ends of the index.
  begun_at_ms BIGINT NOT NULL,
  token UUID NOT NULL,
  -- 1: the write was committed. 0: it was given up, and can no longer be committed.
  committed BIGINT NOT NULL,
  PRIMARY KEY (begun_at_ms, token)
);
`;
}

const NOW_MS = "floor(extract(epoch FROM transaction_timestamp()) * 1000)::bigint";

/** Columns of a statement at a transaction's beginning: with a token, they make its `CommitAttempt`. */
export const ATTEMPT_COLUMNS = `${NOW_MS} AS "begunAtMs", transaction_timestamp()::text AS "begunAt",
  pg_backend_pid() AS pid`;

export function createToken(): string {
  return randomUUID();
}

/**
 * The statements that commit a transaction, as one message. One that has written nothing leaves no token: to give it up
 * and to begin it again costs nothing.
 *
 * The time limit is lifted for the commit itself: a wait for a synchronous standby that is cut short by it would be
 * reported as a success.
 */
export function buildCommitSql(part: SchemaPart["name"], { token, begunAtMs }: CommitAttempt): string {
  const table = `${part}_commits`;
  const sweeps = Math.random() * SWEEP.oneIn < 1;
  return [
    ...(sweeps ? [buildSweepSql(table)] : []),
    `INSERT INTO ${table} (begun_at_ms, token, committed)
     SELECT ${begunAtMs}, '${token}', 1 WHERE pg_current_xact_id_if_assigned() IS NOT NULL`,
    "SET LOCAL statement_timeout = 0",
    "COMMIT",
  ].join("; ");
}

function buildSweepSql(table: string): string {
  return `DELETE FROM ${table} WHERE (begun_at_ms, token) IN (
    SELECT begun_at_ms, token FROM ${table} WHERE begun_at_ms < ${NOW_MS} - ${RETENTION_MS}
    ORDER BY begun_at_ms LIMIT ${SWEEP.tokens} FOR UPDATE SKIP LOCKED)`;
}

/**
 * Ends a session that still holds the transaction open and waits for the next statement, unaware that its client is
 * gone: its locks would be in the way. A session that is carrying out its commit comes to an end by itself.
 */
export function buildTerminateSql({ pid, begunAt }: CommitAttempt): string {
  return `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = ${pid} AND xact_start = '${begunAt}'::timestamptz AND state LIKE 'idle in transaction%'`;
}

/**
 * Gives a write up unless it was committed, and tells which. Waits for one that is being committed. Begin and commit
 * are the caller's. No row: too much time has passed to tell.
 */
export function buildGiveUpSql(
  part: SchemaPart["name"],
  { token, begunAtMs }: CommitAttempt,
): readonly string[] {
  const table = `${part}_commits`;
  return [
    `INSERT INTO ${table} (begun_at_ms, token, committed)
     SELECT ${begunAtMs}, '${token}', 0 WHERE ${NOW_MS} - ${begunAtMs} < ${MAX_QUERY_AGE_MS} ON CONFLICT DO NOTHING`,
    `SELECT committed FROM ${table} WHERE begun_at_ms = ${begunAtMs} AND token = '${token}'`,
  ];
}
