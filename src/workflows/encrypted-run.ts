import type { Payload } from "@temporalio/common";

/** What the worker's codec leaves on a payload that it has opened. */
const WAS_ENCRYPTED = "was-sealed";

let isEncrypted = false;

/** Says nothing about what happens: it decides how failures are written down, which replay does not compare. */
export function markEncrypted({ metadata }: Payload): void {
  if (metadata?.[WAS_ENCRYPTED] !== undefined) isEncrypted = true;
}

export function isEncryptedRun(): boolean {
  return isEncrypted;
}
