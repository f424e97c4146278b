import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { buildConnectionConfig } from "./connection-pool.ts";
import type { DatabaseTarget } from "./database-target.ts";
import { createPostgresError, diagnose, getErrorMessage } from "./postgres-error.ts";
import { quoteIdentifier } from "./quote-identifier.ts";

/** Of one table, of any size. */
const STATEMENT_MS = 60 * 60_000;
/** Said of what went as it should. */
const SUCCESSFUL = "00000";
/** A connection that is being opened, to whatever database, sees what was for a moment: such a table is tried again. */
const VISIBILITY_MS = 1_000;
const RETRY_MS = 100;
/** A lock that was not given, a time limit, a deadlock. */
const BLOCKING_QUERY: ReadonlySet<unknown> = new Set(["55P03", "57014", "40P01"]);

/**
 * Writes tables anew, one after the other, so that nothing is left in them of what was overwritten or deleted. Nobody
 * else can use a table meanwhile.
 *
 * @param lockMs - How long to wait for those who use one.
 * @returns Whether it could: not while somebody holds a table or may still see what was, nor for whom it is not.
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
    // A table of another role is skipped with a warning; rows that must stay are counted in a detail, first of all.
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
    const what = `its tables could not be written anew: ${getErrorMessage(error)}`;
    throw createPostgresError(diagnose(error).fault, target.name, what, error);
  } finally {
    await client.end().catch(() => undefined);
  }
}
