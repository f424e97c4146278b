import { type EncryptionOptions, resolveEncryption } from "../../platform/encryption/resolve-encryption.ts";
import { createEncryptedLineCodec } from "./encrypted-line-codec.ts";
import { LocalHub } from "./local-hub.ts";
import { PostgresHub } from "./postgres/postgres-hub.ts";
import type { StreamHub } from "./stream-hub.ts";

/** Where live output lies: in the database, where one is named; else below the folder. */
export type HubLocation = {
  readonly folder: string;
  readonly database: string | undefined;
  /** With what it is sealed. Else `HOLDFAST_ENCRYPTION_KEYS`. */
  readonly encryption?: EncryptionOptions | undefined;
};

export function openHub({ folder, database, encryption }: HubLocation): StreamHub {
  const codec = createEncryptedLineCodec(resolveEncryption(encryption));
  return database === undefined ? new LocalHub(folder, { codec }) : new PostgresHub(database, { codec });
}
