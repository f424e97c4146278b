import { existsSync } from "node:fs";
import { databaseUrl } from "../../config/database.ts";
import { homeAt } from "../../config/home.ts";
import { type EncryptionOptions, encryptionOf } from "../../platform/encryption/encryption.ts";
import { KeyError } from "../../platform/encryption/key-error.ts";
import type { RekeyCursor } from "../../store/transcript/sql/rekey.ts";
import type { SqlTranscript } from "../../store/transcript/sql/sql-transcript.ts";
import { SqliteTranscript } from "../../store/transcript/sqlite/sqlite-transcript.ts";
import { vacuum } from "../../store/transcript/sqlite/vacuum.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import { HoldfastError } from "../error.ts";

export type RekeyOptions = {
  /** Else `HOLDFAST_HOME`, else `~/.holdfast`. */
  readonly home?: string;
  /** Else `HOLDFAST_DATABASE_URL`. Where there is one, the transcript lies there; an empty one means the home. */
  readonly database?: string;
  /** Else `HOLDFAST_ENCRYPTION_KEYS`: the first key is the one that all is sealed with afterwards. */
  readonly encryption?: EncryptionOptions;
  readonly onPage?: (looked: number, changed: number) => void;
};

export type Rekeyed = {
  /** The file, or the database's address without its password. */
  readonly place: string;
  /** What everything is sealed with now; absent where all is plain. */
  readonly key: string | undefined;
  readonly looked: number;
  readonly changed: number;
  /** File or tables were written anew: nothing is left in them of how they were. Not while others hold them. */
  readonly cleaned: boolean;
};

type Store = {
  readonly place: string;
  readonly transcript: SqlTranscript;
  /** Writes all of it anew, once the transcript is closed. Gives whether it could. */
  readonly clean: () => Promise<boolean>;
};

/** Seals all that the transcript holds with the first key. May be broken off and begun again. */
export async function rekey(options: RekeyOptions = {}): Promise<Rekeyed> {
  try {
    const { ring, transcript: seals } = encryptionOf(options.encryption);
    const key = seals ? ring?.writes : undefined;
    const { place, transcript, clean } = await storeOf(options);
    const done = await everyPage(transcript, key, options);
    return { place, key, ...done, cleaned: await clean() };
  } catch (error) {
    if (error instanceof KeyError) {
      throw new HoldfastError("configuration-invalid", error.message, { cause: error });
    }
    if (!(error instanceof StoreError)) throw error;
    throw new HoldfastError("store-failed", error.message, { cause: error });
  }
}

async function storeOf({ home, database, encryption }: RekeyOptions): Promise<Store> {
  const url = databaseUrl(database);
  if (url !== undefined) {
    const { PostgresTranscript } = await import("../../store/transcript/postgres/postgres-transcript.ts");
    const { vacuum: vacuumTables } = await import("../../store/transcript/postgres/vacuum.ts");
    const transcript = await PostgresTranscript.open({ url, encryption });
    return { place: transcript.name, transcript, clean: () => vacuumTables(url) };
  }
  const path = homeAt(home).transcript;
  if (!existsSync(path)) {
    throw new HoldfastError(
      "input-invalid",
      `There is no transcript at ${path}: nothing is to be sealed anew.`,
    );
  }
  const transcript = await SqliteTranscript.open({ path, encryption });
  return { place: path, transcript, clean: async () => vacuum(path) };
}

async function everyPage(
  transcript: SqlTranscript,
  key: string | undefined,
  { onPage }: RekeyOptions,
): Promise<{ looked: number; changed: number }> {
  let looked = 0;
  let changed = 0;
  try {
    let cursor: RekeyCursor | undefined;
    do {
      const page = await transcript.rekeyPage(key, cursor);
      looked += page.looked;
      changed += page.changed;
      onPage?.(looked, changed);
      cursor = page.next;
    } while (cursor !== undefined);
  } finally {
    await transcript.close();
  }
  return { looked, changed };
}
