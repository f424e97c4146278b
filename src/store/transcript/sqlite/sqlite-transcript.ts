import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { EncryptionOptions } from "../../../platform/encryption/resolve-encryption.ts";
import { checkKeys, createEncryptedColumns } from "../sql/column-encryption.ts";
import { SqlTranscript } from "../sql/sql-transcript.ts";
import { all, type Work } from "../sql/statement.ts";
import { inspectFile } from "./inspect-file.ts";
import { checkIntegrity, MAX_BYTES_AT_OPEN } from "./integrity.ts";
import { retryWhileBusy } from "./retry-while-busy.ts";
import { SqliteEngine } from "./sqlite-engine.ts";
import { createStoreError, toStoreError } from "./sqlite-faults.ts";
import { SqliteReader } from "./sqlite-reader.ts";
import { SqliteWriter } from "./sqlite-writer.ts";

export type SqliteOptions = {
  readonly path: string;
  /** Opens an existing file and never writes to it. */
  readonly readOnly?: boolean | undefined;
  /** How long to wait for a lock that another process holds. */
  readonly busyMs?: number | undefined;
  /** The encryption; by default that of `HOLDFAST_ENCRYPTION_KEYS`. */
  readonly encryption?: EncryptionOptions | undefined;
};

const BUSY_MS = 10_000;

/** The transcript in one SQLite file, which any number of processes of one host can use concurrently. */
export class SqliteTranscript extends SqlTranscript {
  readonly path: string;

  private constructor(path: string, engine: SqliteEngine) {
    super(engine);
    this.path = path;
  }

  /** Opens the file, and creates it if it does not exist. Throws `StoreError` if it must not or cannot be used. */
  static async open(options: SqliteOptions): Promise<SqliteTranscript> {
    const path = resolve(options.path);
    const busyMs = options.busyMs ?? BUSY_MS;
    const readOnly = options.readOnly ?? false;
    const columns = createEncryptedColumns(`Transcript ${path}`, options.encryption);
    const writer = readOnly ? undefined : await openWriter(path, busyMs, columns.options);
    if (readOnly) await checkReadable(path, busyMs);
    const reader = new SqliteReader(path, busyMs, readOnly, columns);
    try {
      await reader.read(checkTables);
      await reader.read(checkKeys);
    } catch (error) {
      await writer?.close();
      throw error;
    }
    return new SqliteTranscript(path, new SqliteEngine(path, reader, writer));
  }
}

/** Opens the writer. Only the owner can access a new file and its folder, because conversations are private. */
async function openWriter(
  path: string,
  busyMs: number,
  encryption: EncryptionOptions,
): Promise<SqliteWriter> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Another connection that closes locks the file for a moment.
    const found = await retryWhileBusy(path, busyMs, () => inspectFile(path, "write"));
    if (found === "new" && !existsSync(path)) closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    throw toStoreError(error, path);
  }
  return SqliteWriter.open({ path, busyMs, encryption });
}

/** Throws `StoreError` for a file that does not exist, must not be used, or is damaged. */
async function checkReadable(path: string, busyMs: number): Promise<void> {
  const { type } = await checkIntegrity(path, { maxBytes: MAX_BYTES_AT_OPEN, busyMs });
  if (type === "absent")
    throw createStoreError("unreachable", path, "the file does not exist, so it cannot be read");
}

/** Reads the root page of every table, so that damage is detected at the opening and not during a run. */
function* checkTables(): Work<void> {
  const tables = yield* all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'");
  for (const { name } of tables) yield* all(`SELECT 1 AS there FROM "${name}" LIMIT 1`);
}
