import { existsSync } from "node:fs";
import { getDatabaseUrl } from "../../config/database-url.ts";
import { resolveHome } from "../../config/home.ts";
import { KeyError } from "../../platform/encryption/key-error.ts";
import { type EncryptionOptions, resolveEncryption } from "../../platform/encryption/resolve-encryption.ts";
import type { RekeyCursor } from "../../store/transcript/sql/rekey-page.ts";
import type { SqlTranscript } from "../../store/transcript/sql/sql-transcript.ts";
import { SqliteTranscript } from "../../store/transcript/sqlite/sqlite-transcript.ts";
import { vacuumFile } from "../../store/transcript/sqlite/vacuum-file.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** Which store is encrypted again, and with which keys. */
export type RekeyOptions = {
  /** The home folder. Default: `HOLDFAST_HOME`, then `~/.holdfast`. */
  readonly home?: string;
  /** The database of the transcript. Default: `HOLDFAST_DATABASE_URL`. An empty value means the home folder. */
  readonly database?: string;
  /** The keys. Default: `HOLDFAST_ENCRYPTION_KEYS`. Everything is encrypted with the first key. */
  readonly encryption?: EncryptionOptions;
  /** Reports progress after each page: the values examined and changed until then. */
  readonly onPage?: (looked: number, changed: number) => void;
};

/** What was encrypted again. */
export type RekeyResult = {
  /** The file, or the database's address without its password. */
  readonly location: string;
  /** The key that now encrypts everything; absent if everything is plain text. */
  readonly key: string | undefined;
  /** The number of values that were examined. */
  readonly examined: number;
  /** The number of values that were encrypted again. */
  readonly changed: number;
  /** Whether the file or tables were rewritten, so that no old content remains. Not possible while others have them open. */
  readonly vacuumed: boolean;
};

type RekeyStore = {
  readonly location: string;
  readonly transcript: SqlTranscript;
  /** Rewrites the store after the transcript is closed. Returns whether it could. */
  readonly vacuum: () => Promise<boolean>;
};

/** Encrypts the whole transcript with the first key. Safe to interrupt and repeat. */
export async function rekeyTranscript(options: RekeyOptions = {}): Promise<RekeyResult> {
  try {
    const { ring, transcript: encrypts } = resolveEncryption(options.encryption);
    const key = encrypts ? ring?.writeKeyId : undefined;
    const { location, transcript, vacuum: clean } = await openRekeyStore(options);
    const done = await rekeyAllPages(transcript, key, options);
    return { location, key, ...done, vacuumed: await clean() };
  } catch (error) {
    if (error instanceof KeyError) {
      throw new HoldfastError("configuration-invalid", error.message, { cause: error });
    }
    if (!(error instanceof StoreError)) throw error;
    throw new HoldfastError("store-failed", error.message, { cause: error });
  }
}

async function openRekeyStore({ home, database, encryption }: RekeyOptions): Promise<RekeyStore> {
  const url = getDatabaseUrl(database);
  if (url !== undefined) {
    const { PostgresTranscript } = await import("../../store/transcript/postgres/postgres-transcript.ts");
    const { vacuumTables } = await import("../../store/transcript/postgres/vacuum-tables.ts");
    const transcript = await PostgresTranscript.open({ url, encryption });
    return { location: transcript.name, transcript, vacuum: () => vacuumTables(url) };
  }
  const path = resolveHome(home).transcript;
  if (!existsSync(path)) {
    throw new HoldfastError(
      "input-invalid",
      `There is no transcript at ${path}: there is nothing to encrypt again.`,
    );
  }
  const transcript = await SqliteTranscript.open({ path, encryption });
  return { location: path, transcript, vacuum: async () => vacuumFile(path) };
}

async function rekeyAllPages(
  transcript: SqlTranscript,
  key: string | undefined,
  { onPage }: RekeyOptions,
): Promise<{ examined: number; changed: number }> {
  let examined = 0;
  let changed = 0;
  try {
    let cursor: RekeyCursor | undefined;
    do {
      const page = await transcript.rekeyPage(key, cursor);
      examined += page.examined;
      changed += page.changed;
      onPage?.(examined, changed);
      cursor = page.next;
    } while (cursor !== undefined);
  } finally {
    await transcript.close();
  }
  return { examined, changed };
}
