import { LocalHub } from "./local-hub.ts";
import type { StreamHub } from "./stream.ts";

/** Where live output lies: in the database, where one is named; else below the folder. */
export type HubPlace = { readonly folder: string; readonly database: string | undefined };

export function openHub({ folder }: HubPlace): StreamHub {
  return new LocalHub(folder);
}
