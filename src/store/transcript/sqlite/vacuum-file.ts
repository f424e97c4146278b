import { SqliteConnection } from "./sqlite-connection.ts";

/** How long to wait for others who read or write. */
const BUSY_MS = 10_000;

/**
 * Writes the file anew, so that nothing is left of what was overwritten or deleted.
 *
 * @returns Whether it could: not while another process reads or writes for longer.
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
