import { databaseTarget } from "../../postgres/target.ts";
import { writeAnew } from "../../postgres/write-anew.ts";
import { PRIVATE_TABLES } from "../sql/private.ts";
import { told } from "./postgres-engine.ts";

/** How long to wait for others who use a table. */
const BUSY_MS = 10_000;

/** Those that hold words, or have held them. */
const TABLES = [...PRIVATE_TABLES.map(([name]) => name), "search_words"];

/**
 * Writes the tables anew, so that nothing is left of what was overwritten or deleted.
 *
 * @returns Whether it could; else somebody holds a table, may still see what was, or the tables are another role's.
 */
export async function vacuum(url: string, busyMs = BUSY_MS): Promise<boolean> {
  return told(writeAnew(databaseTarget(url), TABLES, busyMs));
}
