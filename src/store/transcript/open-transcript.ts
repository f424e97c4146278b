import type { EncryptionOptions } from "../../platform/encryption/resolve-encryption.ts";
import type { Transcript } from "./transcript.ts";

/** The location of a transcript: the database, if one is given, or else the file. */
export type TranscriptLocation = {
  readonly path: string;
  readonly database: string | undefined;
  /** By default the keys of `HOLDFAST_ENCRYPTION_KEYS`. */
  readonly encryption?: EncryptionOptions | undefined;
};

/** Opens a transcript, and creates it if it does not exist. Only the code of the one store is loaded. */
export async function openTranscript({
  path,
  database,
  encryption,
}: TranscriptLocation): Promise<Transcript> {
  if (database === undefined) {
    const { SqliteTranscript } = await import("./sqlite/sqlite-transcript.ts");
    return SqliteTranscript.open({ path, encryption });
  }
  const { PostgresTranscript } = await import("./postgres/postgres-transcript.ts");
  return PostgresTranscript.open({ url: database, encryption });
}
