import type { EncryptionOptions } from "../../platform/encryption/resolve-encryption.ts";
import { SqliteTranscript } from "./sqlite/sqlite-transcript.ts";
import type { Transcript } from "./transcript.ts";

/** Where a transcript lies: in the database, where one is named; else in the file. */
export type TranscriptLocation = {
  readonly path: string;
  readonly database: string | undefined;
  /** Else `HOLDFAST_ENCRYPTION_KEYS`. */
  readonly encryption?: EncryptionOptions | undefined;
};

/** Makes it where there is none. What speaks to a database is loaded by those who use one. */
export async function openTranscript({
  path,
  database,
  encryption,
}: TranscriptLocation): Promise<Transcript> {
  if (database === undefined) return SqliteTranscript.open({ path, encryption });
  const { PostgresTranscript } = await import("./postgres/postgres-transcript.ts");
  return PostgresTranscript.open({ url: database, encryption });
}
