/** What a step waits for before it asks a vendor: known to the server with its heartbeat. */
export type StepWait = {
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

export function waitWords({ for: what, vendor, ahead, untilMs }: StepWait, nowMs: number): string {
  const next =
    untilMs === undefined ? "" : `, the next may go in ${Math.max(0, Math.ceil((untilMs - nowMs) / 1000))} s`;
  const before = ahead === 0 ? "" : `, ${ahead} before it`;
  return `waits for its turn: ${WHY[what](vendor)}${next}${before}`;
}

const WHY: Readonly<Record<StepWait["for"], (vendor: string) => string>> = {
  vendor: (vendor) => `${vendor} takes no more questions yet, as it has said`,
  rate: (vendor) => `the limits for ${vendor} are used up for this minute`,
  places: (vendor) => `as many questions to ${vendor} are under way as the limits allow`,
};
