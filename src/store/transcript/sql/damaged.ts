import { StoreError } from "../store-error.ts";

/** @param what - The damaged data, such as "message 3 of run R". */
export function createDamagedError(what: string): StoreError {
  const found = `The transcript is damaged: the ${what} differs from what was stored.`;
  return new StoreError("damaged", `${found} Restore a backup (docs/operations.md).`);
}
