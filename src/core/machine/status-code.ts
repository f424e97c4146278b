/** The codes of a run that is open. */
export const OPEN_STATUS_CODES = ["running", "waiting", "needs-approval", "stopping"] as const;

/** Single-word codes for the state of a run, as in the search attribute `HoldfastStatus`. */
export const STATUS_CODES = [
  ...OPEN_STATUS_CODES,
  "completed",
  "limit-reached",
  "failed",
  "stopped",
  "paused",
  "handoff",
] as const;
/** The state of a run in one word. The first four are states of an open run, the others say how it ended. */
export type StatusCode = (typeof STATUS_CODES)[number];
