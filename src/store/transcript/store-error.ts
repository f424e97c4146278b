/** A write came too late: a newer generation or another process has claimed the step. */
export class FencedError extends Error {
  override readonly name = "FencedError";
}

/**
 * Why the store failed. `busy`, `full`, `read-only` and `unreachable` pass when their cause is gone; the others need an
 * operator and leave the store unchanged. `behind`: a run expects entries that do not exist; `ahead`: the transcript
 * contains something else where a run writes. Both mean that it and Temporal's store are from different times.
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

/** Whether a fault passes when its cause is gone, so that retries are useful. */
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
