// Failed workflow tasks that are part of normal operation. The numbers are those of `temporal.api.enums.v1.WorkflowTaskFailedCause`.

/** The commands would have closed the run, and an event arrived meanwhile: the server dispatches the task again. */
const UNHANDLED_COMMAND = 1;

/** The task was taken back so that another worker can have it. */
const RESET_STICKY_TASK_QUEUE = 13;

/** @param {number | null | undefined} cause the cause that the server recorded with the failed task */
export function isNormalTaskFailure(cause) {
  return cause === UNHANDLED_COMMAND || cause === RESET_STICKY_TASK_QUEUE;
}
