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

export type RekeyOptions = {
  /** Else `HOLDFAST_HOME`, else `~/.holdfast`. */
  readonly home?: string;
  /** Else `HOLDFAST_DATABASE_URL`. Where there is one, the transcript lies there; an empty one means the home. */
  readonly database?: string;
  /** Else `HOLDFAST_ENCRYPTION_KEYS`: the first key is the one that all is sealed with afterwards. */
  readonly encryption?: EncryptionOptions;
  readonly onPage?: (looked: number, changed: number) => void;
};

export type RekeyResult = {
  /** The file, or the database's address without its password. */
  readonly place: string;
  /** What everything is sealed with now; absent where all is plain. */
  readonly key: string | undefined;
  readonly looked: number;
  readonly changed: number;
  /** File or tables were written anew: nothing is left in them of how they were. Not while others hold them. */
  readonly cleaned: boolean;
};

type RekeyStore = {
  readonly place: string;
  readonly transcript: SqlTranscript;
  /** Writes all of it anew, once the transcript is closed. Gives whether it could. */
  readonly vacuum: () => Promise<boolean>;
};

/** Seals all that the transcript holds with the first key. May be broken off and begun again. */
export async function rekeyTranscript(options: RekeyOptions = {}): Promise<RekeyResult> {
  try {
    const { ring, transcript: encrypts } = resolveEncryption(options.encryption);
    const key = encrypts ? ring?.writeKeyId : undefined;
    const { place, transcript, vacuum: clean } = await openRekeyStore(options);
    const done = await rekeyAllPages(transcript, key, options);
    return { place, key, ...done, cleaned: await clean() };
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
    return { place: transcript.name, transcript, vacuum: () => vacuumTables(url) };
  }
  const path = resolveHome(home).transcript;
  if (!existsSync(path)) {
    throw new HoldfastError(
      "input-invalid",
      `There is no transcript at ${path}: nothing is to be sealed anew.`,
    );
  }
  const transcript = await SqliteTranscript.open({ path, encryption });
  return { place: path, transcript, vacuum: async () => vacuumFile(path) };
}

async function rekeyAllPages(
  transcript: SqlTranscript,
  key: string | undefined,
  { onPage }: RekeyOptions,
): Promise<{ looked: number; changed: number }> {
  let examined = 0;
  let changed = 0;
  try {
    let cursor: RekeyCursor | undefined;
    do {
      const page = await transcript.rekeyPage(key, cursor);
      examined += page.looked;
      changed += page.changed;
      onPage?.(examined, changed);
      cursor = page.next;
    } while (cursor !== undefined);
  } finally {
    await transcript.close();
  }
  return { looked: examined, changed };
}
