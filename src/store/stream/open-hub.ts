import { join } from "node:path";
import { type EncryptionOptions, resolveEncryption } from "../../platform/encryption/resolve-encryption.ts";
import { createEncryptedLineCodec } from "./encrypted-line-codec.ts";
import { HoldingHub } from "./holding-hub.ts";
import type { StreamHub } from "./stream-hub.ts";

/** The location of live output: the database, if one is given, or else the folder. */
export type HubLocation = {
  readonly folder: string;
  readonly database: string | undefined;
  /** The encryption; by default that of `HOLDFAST_ENCRYPTION_KEYS`. */
  readonly encryption?: EncryptionOptions | undefined;
};

/** Opens the hub. Only the code of the one place is loaded. */
export async function openHub({ folder, database, encryption }: HubLocation): Promise<StreamHub> {
  const codec = createEncryptedLineCodec(resolveEncryption(encryption));
  if (database === undefined) {
    const [{ LocalHub }, { FolderWatches }] = await Promise.all([
      import("./local-hub.ts"),
      import("./folder-watches.ts"),
    ]);
    return new HoldingHub(new LocalHub(folder, { codec }), new FolderWatches(join(folder, "live")));
  }
  const { PostgresHub } = await import("./postgres/postgres-hub.ts");
  const hub = new PostgresHub(database, { codec });
  return new HoldingHub(hub, hub.watches);
}
