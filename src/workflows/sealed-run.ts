import type { Payload } from "@temporalio/common";

/** What the worker's codec leaves on a payload that it has opened. */
const WAS_SEALED = "was-sealed";

let sealed = false;

/** Says nothing about what happens: it decides how failures are written down, which replay does not compare. */
export function noteSealed({ metadata }: Payload): void {
  if (metadata?.[WAS_SEALED] !== undefined) sealed = true;
}

export function isSealedRun(): boolean {
  return sealed;
}
