import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { buildConnectionConfig } from "./connection-pool.ts";
import type { DatabaseTarget } from "./database-target.ts";
import { createPostgresError, diagnose, getErrorMessage } from "./postgres-error.ts";
import { quoteIdentifier } from "./quote-identifier.ts";

/** The time limit for one table of any size. */
const STATEMENT_MS = 60 * 60_000;
/** The SQLSTATE of success. */
const SUCCESSFUL = "00000";
/** A connection that opens, to any database, briefly sees old data: such a table is retried. */
const VISIBILITY_MS = 1_000;
const RETRY_MS = 100;
/** SQLSTATEs of an unavailable lock, a time limit, and a deadlock. */
const BLOCKING_QUERY: ReadonlySet<unknown> = new Set(["55P03", "57014", "40P01"]);

/**
 * Rewrites tables, one after the other, so that they contain no overwritten or deleted data. A table cannot be used during
 * its rewrite.
 *
 * @param lockMs - How long to wait for other users of a table.
 * @returns False if a table is locked, a transaction may still see old data, or a table belongs to another role.
 */
export async function rewriteTables(
  target: DatabaseTarget,
  tables: readonly string[],
  lockMs: number,
): Promise<boolean> {
  const client = new pg.Client(
    buildConnectionConfig(target, { statementMs: STATEMENT_MS, lockMs, idleMs: 0 }),
  );
  client.on("error", () => undefined);
  let isSkipped = false;
  let rowsLeft = 0;
  client.on("notice", ({ code, detail }) => {
    // A table of another role is skipped with a warning. The first number of a detail counts rows that must stay.
    if (code !== SUCCESSFUL) isSkipped = true;
    rowsLeft += Number(/\d+/.exec(detail ?? "")?.[0] ?? 0);
  });
  const end = performance.now() + VISIBILITY_MS;
  const rewrite = async (table: string) => {
    do {
      rowsLeft = 0;
      await client.query(
        `VACUUM (FULL, VERBOSE) ${quoteIdentifier(target.schema)}.${quoteIdentifier(table)}`,
      );
    } while (rowsLeft > 0 && performance.now() < end && (await delay(RETRY_MS, true)));
    return !isSkipped && rowsLeft === 0;
  };
  try {
    await client.connect();
    await client.query(`SET lock_timeout = ${lockMs}; SET statement_timeout = ${STATEMENT_MS}`);
    let areAllWhole = true;
    for (const table of tables) areAllWhole = (await rewrite(table)) && areAllWhole;
    return areAllWhole;
  } catch (error) {
    if (BLOCKING_QUERY.has((error as { code?: unknown }).code)) return false;
    const what = `its tables could not be rewritten: ${getErrorMessage(error)}`;
    throw createPostgresError(diagnose(error).fault, target.name, what, error);
  } finally {
    await client.end().catch(() => undefined);
  }
}
