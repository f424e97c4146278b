import { parseDatabaseTarget } from "../../postgres/database-target.ts";
import { rewriteTables } from "../../postgres/rewrite-tables.ts";
import { ENCRYPTED_TABLES } from "../sql/encrypted-columns.ts";
import { toStoreFaults } from "./postgres-engine.ts";

/** How long to wait for others who use a table. */
const BUSY_MS = 10_000;

/** Those that hold words, or have held them. */
const TABLES = [...ENCRYPTED_TABLES.map(([name]) => name), "search_words"];

/**
 * Writes the tables anew, so that nothing is left of what was overwritten or deleted.
 *
 * @returns Whether it could; else somebody holds a table, may still see what was, or the tables are another role's.
 */
export async function vacuumTables(url: string, busyMs = BUSY_MS): Promise<boolean> {
  return toStoreFaults(rewriteTables(parseDatabaseTarget(url), TABLES, busyMs));
}
