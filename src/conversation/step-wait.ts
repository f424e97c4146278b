/** What a step waits for, as the server knows it from its heartbeat: its turn to ask a vendor, or the store. */
export type StepWait = VendorWait | StoreWait;

type StoreWait = {
  readonly for: "store";
  /** Why the store does not answer, as in a `StoreError`. */
  readonly fault: string;
  /** Unix milliseconds. */
  readonly sinceMs: number;
};

export type VendorWait = {
  /** The vendor has said that it takes no question now; or so many a minute, or at once, are what a worker's limits allow. */
  readonly for: "vendor" | "rate" | "places";
  readonly vendor: string;
  /** Questions of the same worker that wait before it. */
  readonly ahead: number;
  /** Unix milliseconds. */
  readonly sinceMs: number;
  /** Of the moment at which the next may go; absent where that depends on others. */
  readonly untilMs?: number;
};

export function formatWait(wait: StepWait, nowMs: number): string {
  if (wait.for === "store") {
    const seconds = Math.max(0, Math.round((nowMs - wait.sinceMs) / 1000));
    return `waits for the transcript, which has not answered for ${seconds} s (${wait.fault}); the run continues when the transcript answers`;
  }
  const { for: what, vendor, ahead, untilMs } = wait;
  const next =
    untilMs === undefined ? "" : `, the next may go in ${Math.max(0, Math.ceil((untilMs - nowMs) / 1000))} s`;
  const before = ahead === 0 ? "" : `, ${ahead} before it`;
  return `waits for its turn: ${WHY[what](vendor)}${next}${before}`;
}

const WHY: Readonly<Record<VendorWait["for"], (vendor: string) => string>> = {
  vendor: (vendor) => `${vendor} is accepting no more requests for now`,
  rate: (vendor) => `the limits for ${vendor} are used up for this minute`,
  places: (vendor) => `the maximum number of requests to ${vendor} is in flight`,
};
