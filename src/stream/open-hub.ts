import { LocalHub } from "./local-hub.ts";
import { PostgresHub } from "./postgres/postgres-hub.ts";
import type { StreamHub } from "./stream.ts";

/** Where live output lies: in the database, where one is named; else below the folder. */
export type HubPlace = { readonly folder: string; readonly database: string | undefined };

export function openHub({ folder, database }: HubPlace): StreamHub {
  return database === undefined ? new LocalHub(folder) : new PostgresHub(database);
}
