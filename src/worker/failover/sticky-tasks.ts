import type { DeadProcessWork, WorkerProcess } from "../../store/transcript/worker-process.ts";
import type { PolledTask, Takeover } from "./takeover.ts";

// A workflow task that is bound to the dead worker's own queue waits there for the sticky timeout, and resetting a
// run's queue does not move it. A process that polls that queue gets the task, and may return it.

/** The kind of task queue that belongs to one worker process (`temporal.api.enums.v1.TaskQueueKind`). */
const STICKY = 2;

/** Why a task is returned (`WorkflowTaskFailedCause`): the server schedules it again on the run's own queue. */
const RESET_STICKY_TASK_QUEUE = 13;

/** The number of runs whose histories are searched for the queue's name: every run of a worker names the same queue. */
const MAX_RUNS = 5;
const MAX_EVENTS = 50;

/** The server rejects a poll of less than two seconds. */
const POLL_MS = 3000;

/** A waiting task is delivered at once; after this time without a task, none was waiting. */
const QUIET_MS = 150;

/**
 * Returns the workflow tasks that wait in a dead worker's queue to the server. Resolves when none waits any more;
 * tasks that arrive in the next seconds are returned too.
 */
export async function releaseStickyTasks(
  dead: WorkerProcess,
  remains: DeadProcessWork,
  takeover: Takeover,
): Promise<number> {
  const queue = await findStickyQueue(dead, remains, takeover);
  if (queue === undefined) return 0;
  let given = 0;
  for (;;) {
    const poll = releaseStickyTask(dead.namespace, queue, takeover);
    const outcome = await Promise.race([poll, waitQuietPeriod()]);
    if (outcome !== "given") return given;
    given += 1;
  }
}

async function releaseStickyTask(
  namespace: string,
  queue: string,
  takeover: Takeover,
): Promise<"given" | "none"> {
  const { service, within, identity } = takeover;
  const taskQueue = { name: queue, kind: STICKY };
  for (;;) {
    // The poll's deadline passed without a task.
    const polling = within(POLL_MS, () => service.pollWorkflowTaskQueue({ namespace, taskQueue, identity }));
    const { taskToken, query } = await polling.catch((): PolledTask => ({}));
    if (taskToken === undefined || taskToken.length === 0) return "none";
    // A query waits in the same queue, and comes before a task. The server sends it again on the run's own queue.
    if (query != null) continue;
    const failed = { namespace, taskToken, cause: RESET_STICKY_TASK_QUEUE, identity };
    const isGiven = await service.respondWorkflowTaskFailed(failed).then(
      () => true,
      // The task ended by itself meanwhile.
      () => false,
    );
    if (isGiven) return "given";
  }
}

async function waitQuietPeriod(): Promise<"quiet"> {
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  return "quiet";
}

/** Finds the dead worker's queue in the newest events of its runs. */
async function findStickyQueue(
  dead: WorkerProcess,
  remains: DeadProcessWork,
  { service }: Takeover,
): Promise<string | undefined> {
  for (const { workflow, run } of remains.runs.slice(0, MAX_RUNS)) {
    const answer = await service
      .getWorkflowExecutionHistoryReverse({
        namespace: dead.namespace,
        execution: { workflowId: workflow, runId: run },
        maximumPageSize: MAX_EVENTS,
      })
      .catch(() => undefined);
    for (const event of answer?.history?.events ?? []) {
      const queue = event.workflowTaskScheduledEventAttributes?.taskQueue;
      if (queue?.kind === STICKY && queue.name?.startsWith(dead.id)) return queue.name;
    }
  }
  return undefined;
}
