import { SqliteConnection } from "./sqlite-connection.ts";

/** How long to wait for other readers and writers. */
const BUSY_MS = 10_000;

/**
 * Rewrites the file, so that it contains no overwritten or deleted data.
 *
 * @returns False if another process read or wrote for longer than the wait.
 */
export function vacuumFile(path: string): boolean {
  const sql = new SqliteConnection(path);
  try {
    sql.get(`PRAGMA busy_timeout = ${BUSY_MS}`);
    sql.exec("VACUUM");
    const done = sql.get<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)");
    return done?.busy === 0;
  } catch (error) {
    if (/locked|busy/i.test((error as Error).message)) return false;
    throw error;
  } finally {
    sql.close();
  }
}
