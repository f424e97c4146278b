/** A write came too late: a newer generation holds the step, or another process does. */
export class FencedError extends Error {
  override readonly name = "FencedError";
}

/**
 * Why the store did not answer. `busy`, `full`, `read-only` and `unreachable` pass when their cause is gone;
 * the others need a person, and leave the store as it was. `behind`: a run counts on entries that are not there; `ahead`:
 * the transcript holds something else where a run is to write. Both mean that it and Temporal's store are not of one time.
 */
export type StoreFault =
  | "busy"
  | "full"
  | "read-only"
  | "unreachable"
  | "damaged"
  | "newer"
  | "behind"
  | "ahead"
  | "other";

/** Faults that pass when their cause is gone: it is worth while to ask again. */
export const STORE_MAY_RECOVER: Readonly<Record<StoreFault, boolean>> = {
  busy: true,
  full: true,
  "read-only": true,
  unreachable: true,
  other: true,
  damaged: false,
  newer: false,
  behind: false,
  ahead: false,
};

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.fault = fault;
  }
}
