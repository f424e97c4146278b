/**
 * Names of the points at which tests crash the process. SQLite reaches the points of a commit in its writer thread,
 * PostgreSQL around its transactions.
 */
export const KILL_POINTS = [
  "open:before",
  "open:after",
  "claim:before",
  "claim:after",
  "request:before",
  "stream:begun",
  "stream:bytes",
  "stream:whole",
  "tool:start",
  "tool:end",
  "group:before",
  "group:noted",
  "store:before",
  "store:after",
  "record:before",
  "record:after",
  "close:before",
  "close:after",
  "commit:begin",
  "commit:end",
  "commit:done",
  "recovery:signed-in",
  "recovery:queues-given-back",
  "recovery:activities-failed",
] as const;
export type KillPoint = (typeof KILL_POINTS)[number];

let listener: ((point: KillPoint) => void) | undefined;

/** Marks a kill point in the code. Does nothing unless a test worker has armed the kill points. */
export function reachKillPoint(point: KillPoint): void {
  listener?.(point);
}

/**
 * Calls a function at each kill point of this thread; it can end the process there. For tests.
 *
 * @testonly
 */
export function armKillPoints(report: (point: KillPoint) => void): void {
  listener = report;
}
