/** What a step waits for, as its heartbeat reports it to the server: its turn to call a vendor, or the store. */
export type StepWait = VendorWait | StoreWait;

/** A step waits for the store. */
export type StoreWait = {
  readonly type: "store";
  /** Why the store does not answer, as in a `StoreError`. */
  readonly fault: string;
  /** Unix milliseconds. */
  readonly sinceMs: number;
};

/** A step waits for its turn to call a vendor. */
export type VendorWait = {
  /**
   * `vendor`: the vendor accepts no request now. `rate`, `concurrency`: the worker's limit per minute or at once is
   * reached.
   */
  readonly type: "vendor" | "rate" | "concurrency";
  /** The name of the vendor. */
  readonly vendor: string;
  /** The number of requests of the same worker that wait before it. */
  readonly ahead: number;
  /** Unix milliseconds. */
  readonly sinceMs: number;
  /** When the next request may be sent; absent when that depends on others. */
  readonly untilMs?: number;
};

export function formatWait(wait: StepWait, nowMs: number): string {
  if (wait.type === "store") {
    const seconds = Math.max(0, Math.round((nowMs - wait.sinceMs) / 1000));
    return `waits for the transcript, which has not answered for ${seconds} s (${wait.fault}); the run continues when the transcript answers`;
  }
  const { type: what, vendor, ahead, untilMs } = wait;
  const next =
    untilMs === undefined ? "" : `, the next may go in ${Math.max(0, Math.ceil((untilMs - nowMs) / 1000))} s`;
  const before = ahead === 0 ? "" : `, ${ahead} before it`;
  return `waits for its turn: ${WHY[what](vendor)}${next}${before}`;
}

const WHY: Readonly<Record<VendorWait["type"], (vendor: string) => string>> = {
  vendor: (vendor) => `${vendor} is accepting no more requests for now`,
  rate: (vendor) => `the limits for ${vendor} are used up for this minute`,
  concurrency: (vendor) => `the maximum number of requests to ${vendor} is in flight`,
};
