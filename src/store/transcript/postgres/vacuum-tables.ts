import { parseDatabaseTarget } from "../../postgres/database-target.ts";
import { rewriteTables } from "../../postgres/rewrite-tables.ts";
import { ENCRYPTED_TABLES } from "../sql/encrypted-columns.ts";
import { toStoreFaults } from "./postgres-engine.ts";

/** How long to wait for other users of a table. */
const BUSY_MS = 10_000;

/** Tables that contain or have contained text of conversations. */
const TABLES = [...ENCRYPTED_TABLES.map(([name]) => name), "search_index"];

/**
 * Rewrites the tables, so that they contain no overwritten or deleted data.
 *
 * @returns False if a table is locked, a transaction may still see old data, or the tables belong to another role.
 */
export async function vacuumTables(url: string, busyMs = BUSY_MS): Promise<boolean> {
  return toStoreFaults(rewriteTables(parseDatabaseTarget(url), TABLES, busyMs));
}
