import type pg from "pg";
import type { DatabaseTarget } from "./database-target.ts";
import { hashLockNumber } from "./locks.ts";
import { createPostgresError, type PostgresError } from "./postgres-error.ts";
import { quoteIdentifier } from "./quote-identifier.ts";

/** A set of tables with a version of its own: those of the transcript, or those of the live output. */
export type SchemaPart = {
  readonly name: "transcript" | "stream";
  /**
   * Step N migrates from version N - 1 to version N. Steps are only added, never changed. An empty step stands for a
   * version that was never released; tables of that version are rejected.
   */
  readonly steps: readonly string[];
};

/** Another process may be migrating a table of any size. */
const LIMITS_MS = { lock: 120_000, statement: 15 * 60_000, idle: 60_000 };

/**
 * Migrates a part to its newest version, in one transaction: if the process dies during the migration, nothing has changed.
 * Of several processes that start concurrently, one migrates and the others find the migration done.
 *
 * A role without permission to create tables can use those that another role has created.
 */
export async function migrateSchema(
  client: pg.ClientBase,
  target: DatabaseTarget,
  part: SchemaPart,
): Promise<void> {
  await checkServer(client, target);
  const newest = part.steps.length;
  const found = await readVersion(client, target, part);
  checkVersion(target.name, part, found);
  if (found === newest) return;
  const { schema } = target;
  await client.query(
    [
      "BEGIN ISOLATION LEVEL READ COMMITTED",
      `SET LOCAL lock_timeout = ${LIMITS_MS.lock}`,
      `SET LOCAL statement_timeout = ${LIMITS_MS.statement}`,
      `SET LOCAL idle_in_transaction_session_timeout = ${LIMITS_MS.idle}`,
      `SELECT pg_advisory_xact_lock('${hashLockNumber(schema, "migrations")}')`,
    ].join("; "),
  );
  await applyMigrations(client, target, part);
  await client.query("COMMIT");
}

async function applyMigrations(
  client: pg.ClientBase,
  target: DatabaseTarget,
  part: SchemaPart,
): Promise<void> {
  const { schema, name } = target;
  const { rows } = await client.query(
    `SELECT to_regnamespace($1) IS NOT NULL AS "hasSchema",
       (SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname = $2) AS relations,
       to_regclass($3) IS NOT NULL AS "isHoldfastSchema"`,
    [quoteIdentifier(schema), schema, `${quoteIdentifier(schema)}.migrations`],
  );
  const { hasSchema, relations, isHoldfastSchema } = rows[0] as {
    hasSchema: number;
    relations: number;
    isHoldfastSchema: number;
  };
  if (isHoldfastSchema === 0 && relations > 0) {
    throw createPostgresError(
      "other",
      name,
      "the schema contains tables of another program; use a separate schema",
    );
  }
  if (hasSchema === 0) await client.query(`CREATE SCHEMA ${quoteIdentifier(schema)}`);
  await client.query(`SET LOCAL search_path TO ${quoteIdentifier(schema)}, pg_temp`);
  if (isHoldfastSchema === 0) await client.query(TABLE);
  const found = await readVersion(client, target, part);
  checkVersion(name, part, found);
  for (let version = found + 1; version <= part.steps.length; version++) {
    await client.query(part.steps[version - 1]!);
    const text = "INSERT INTO migrations (part, version, applied_at_ms) VALUES ($1, $2, $3)";
    await client.query(text, [part.name, version, Date.now()]);
  }
}

const TABLE = `CREATE TABLE migrations (
  part TEXT NOT NULL,
  version BIGINT NOT NULL,
  applied_at_ms BIGINT NOT NULL,
  PRIMARY KEY (part, version)
)`;

/** Reads the version of a part; 0 if it does not exist. */
async function readVersion(
  client: pg.ClientBase,
  { schema }: DatabaseTarget,
  part: SchemaPart,
): Promise<number> {
  const table = `${quoteIdentifier(schema)}.migrations`;
  const found = await client.query("SELECT to_regclass($1) IS NOT NULL AS exists", [table]);
  if ((found.rows[0] as { exists: number }).exists === 0) return 0;
  const { rows } = await client.query(`SELECT max(version) AS version FROM ${table} WHERE part = $1`, [
    part.name,
  ]);
  return (rows[0] as { version: number | null }).version ?? 0;
}

/** The oldest supported version of the server. */
const OLDEST_SERVER = 13;

async function checkServer(client: pg.ClientBase, { name }: DatabaseTarget): Promise<void> {
  const { rows } = await client.query(
    "SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding",
  );
  const { version, encoding } = rows[0] as { version: string; encoding: string };
  const major = Math.floor(Number(version) / 10_000);
  if (major < OLDEST_SERVER) {
    throw createPostgresError(
      "other",
      name,
      `the server has version ${major}; ${OLDEST_SERVER} or newer is required`,
    );
  }
  if (encoding !== "UTF8") {
    throw createPostgresError("other", name, `the database has the encoding ${encoding}; UTF8 is required`);
  }
}

function checkVersion(name: string, part: SchemaPart, found: number): void {
  if (found > part.steps.length) throw createVersionError(name, part, found);
  if (part.steps[found - 1] !== "") return;
  const problem =
    `the tables of the ${part.name} have version ${found}, which was never released; use another schema, ` +
    "or the development version that made these";
  throw createPostgresError("other", name, problem);
}

export function createVersionError(
  name: string,
  { steps, name: part }: SchemaPart,
  found: number,
): PostgresError {
  const what = `the tables of the ${part} have version ${found}, but this Holdfast supports versions up to ${steps.length}`;
  return createPostgresError("newer", name, what);
}
