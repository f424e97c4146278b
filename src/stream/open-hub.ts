import { type EncryptionOptions, encryptionOf } from "../codec/encryption.ts";
import { LocalHub } from "./local-hub.ts";
import { PostgresHub } from "./postgres/postgres-hub.ts";
import { sealedLines } from "./sealed-lines.ts";
import type { StreamHub } from "./stream.ts";

/** Where live output lies: in the database, where one is named; else below the folder, sealed as the transcript is. */
export type HubPlace = {
  readonly folder: string;
  readonly database: string | undefined;
  readonly encryption?: EncryptionOptions | undefined;
};

export function openHub({ folder, database, encryption }: HubPlace): StreamHub {
  if (database !== undefined) return new PostgresHub(database);
  return new LocalHub(folder, { codec: sealedLines(encryptionOf(encryption)) });
}
