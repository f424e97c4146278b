import { StoreError } from "../store-error.ts";

/** @param what - The words that are not what was stored. */
export function damaged(what: string): StoreError {
  const found = `The transcript is damaged: the ${what} is not what was stored.`;
  return new StoreError("damaged", `${found} Restore a backup (docs/operations.md).`);
}
