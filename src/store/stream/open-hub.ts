import { type EncryptionOptions, encryptionOf } from "../../platform/encryption/encryption.ts";
import { LocalHub } from "./local-hub.ts";
import { PostgresHub } from "./postgres/postgres-hub.ts";
import { sealedLines } from "./sealed-lines.ts";
import type { StreamHub } from "./stream.ts";

/** Where live output lies: in the database, where one is named; else below the folder. */
export type HubPlace = {
  readonly folder: string;
  readonly database: string | undefined;
  /** With what it is sealed. Else `HOLDFAST_ENCRYPTION_KEYS`. */
  readonly encryption?: EncryptionOptions | undefined;
};

export function openHub({ folder, database, encryption }: HubPlace): StreamHub {
  const codec = sealedLines(encryptionOf(encryption));
  return database === undefined ? new LocalHub(folder, { codec }) : new PostgresHub(database, { codec });
}
