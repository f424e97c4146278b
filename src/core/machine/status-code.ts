/** The state of a run in one word. The first four are states of an open run, the others say how it ended. */
export type StatusCode =
  | "running"
  | "waiting"
  | "needs-approval"
  | "stopping"
  | "completed"
  | "limit-reached"
  | "failed"
  | "stopped"
  | "paused"
  | "handoff";

/** Whether a run with this status is open. */
const IS_OPEN: Readonly<Record<StatusCode, boolean>> = {
  running: true,
  waiting: true,
  "needs-approval": true,
  stopping: true,
  completed: false,
  "limit-reached": false,
  failed: false,
  stopped: false,
  paused: false,
  handoff: false,
};

/** Single-word codes for the state of a run, as in the search attribute `HoldfastStatus`. */
export const STATUS_CODES = Object.keys(IS_OPEN) as readonly StatusCode[];

export function isOpenStatus(status: StatusCode): boolean {
  return IS_OPEN[status];
}
