import { type EncryptionOptions, resolveEncryption } from "../../platform/encryption/resolve-encryption.ts";
import { createEncryptedLineCodec } from "./encrypted-line-codec.ts";
import { LocalHub } from "./local-hub.ts";
import { PostgresHub } from "./postgres/postgres-hub.ts";
import type { StreamHub } from "./stream-hub.ts";

/** The location of live output: the database, if one is given, or else the folder. */
export type HubLocation = {
  readonly folder: string;
  readonly database: string | undefined;
  /** The encryption; by default that of `HOLDFAST_ENCRYPTION_KEYS`. */
  readonly encryption?: EncryptionOptions | undefined;
};

export function openHub({ folder, database, encryption }: HubLocation): StreamHub {
  const codec = createEncryptedLineCodec(resolveEncryption(encryption));
  return database === undefined ? new LocalHub(folder, { codec }) : new PostgresHub(database, { codec });
}
