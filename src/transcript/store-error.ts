/** A write came too late: a newer generation holds the step, or another process does. */
export class FencedError extends Error {
  override readonly name = "FencedError";
}

/**
 * Why the store did not answer. `busy`, `full`, `read-only` and `unreachable` pass when their cause is gone;
 * `damaged` and `newer` need a person, and leave the file as it was.
 */
export type StoreFault = "busy" | "full" | "read-only" | "unreachable" | "damaged" | "newer" | "other";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.fault = fault;
  }
}
