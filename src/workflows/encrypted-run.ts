import type { Payload } from "@temporalio/common";

/** The mark that the worker's codec leaves on a payload that it has decrypted. */
const WAS_ENCRYPTED = "was-encrypted";

let isEncrypted = false;

/**
 * Records that the run received an encrypted payload. This affects only how failures are encoded, which replay does
 * not compare.
 */
export function markEncrypted({ metadata }: Payload): void {
  if (metadata?.[WAS_ENCRYPTED] !== undefined) isEncrypted = true;
}

export function isEncryptedRun(): boolean {
  return isEncrypted;
}
