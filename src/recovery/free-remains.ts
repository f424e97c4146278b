import { defaultPayloadConverter } from "@temporalio/common";
import type { Logger } from "../observability/log.ts";
import type { Remains, WorkerProcess } from "../transcript/worker-process.ts";
import { giveBackTasks } from "./sticky-tasks.ts";
import type { Takeover } from "./takeover.ts";

/** gRPC's NOT_FOUND: the activity has ended, or the run is closed. That is what we wanted. */
const NOT_FOUND = 5;

/** Runs that are looked after at the same time: a fleet's worth must not hold up the first. */
const AT_ONCE = 32;

/**
 * Frees what a dead process held: its activities fail at once instead of after their heartbeat time-out, and its
 * runs no longer wait in its sticky queue (design 3.18).
 */
export async function freeRemains(
  dead: WorkerProcess,
  remains: Remains,
  takeover: Takeover,
  log: Logger,
): Promise<void> {
  const { namespace } = dead;
  const { service, identity } = takeover;
  const lost = (executions: number) => ({
    message: `The worker process ${dead.id} is gone`,
    source: "holdfast",
    applicationFailureInfo: {
      type: "WorkerLost",
      nonRetryable: true,
      details: { payloads: [defaultPayloadConverter.toPayload({ attempts: executions })] },
    },
  });
  // First the queues: a failed activity makes a workflow task, which would wait in the dead worker's own; and a
  // reset does not move a task that waits there already.
  const tasks = await giveBackTasks(dead, remains, takeover);
  await eachOf(remains.runs, ({ session, run }) =>
    allowingNotFound(
      service.resetStickyTaskQueue({ namespace, execution: { workflowId: session, runId: run } }),
    ),
  );
  // A job has no activities by which it would be known; the parts of its id before a dot name who stands above a run.
  await eachOf(above(remains.runs), (workflowId) =>
    allowingNotFound(service.resetStickyTaskQueue({ namespace, execution: { workflowId } })),
  );
  await eachOf(remains.activities, ({ session, run, activityId, executions }) =>
    allowingNotFound(
      service.respondActivityTaskFailedById({
        namespace,
        workflowId: session,
        runId: run,
        activityId,
        identity,
        failure: lost(executions),
      }),
    ),
  );
  log.info(
    { process: dead.id, runs: remains.runs.length, activities: remains.activities.length, tasks },
    "Took over from a dead worker",
  );
}

/** Resetting one that is not there, or that another worker has in memory, does no harm. */
function above(runs: Remains["runs"]): readonly string[] {
  const known = new Set(runs.map(({ session }) => session));
  const ids = runs.flatMap(({ session }) => {
    const parts = session.split(".");
    return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("."));
  });
  return [...new Set(ids)].filter((id) => id !== "" && !known.has(id));
}

async function eachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const lanes = Array.from({ length: Math.min(AT_ONCE, left.length) }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  });
  await Promise.all(lanes);
}

async function allowingNotFound(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if ((error as { code?: unknown }).code !== NOT_FOUND) throw error;
  }
}
