import { defaultPayloadConverter } from "@temporalio/common";
import { reachKillPoint } from "../../platform/kill-point.ts";
import type { Logger } from "../../platform/log.ts";
import type { DeadProcessWork, WorkerProcess } from "../../store/transcript/worker-process.ts";
import { releaseStickyTasks } from "./sticky-tasks.ts";
import type { Takeover } from "./takeover.ts";

/** gRPC's NOT_FOUND: the activity has ended, or the run is closed. That is what we wanted. */
const NOT_FOUND = 5;

/** Runs that are looked after at the same time: a fleet's worth must not hold up the first. */
const CONCURRENCY = 32;

/**
 * Frees what a dead process held: its activities fail at once instead of after their heartbeat time-out, and its
 * runs no longer wait in its sticky queue (design 3.18).
 */
export async function releaseDeadWork(
  dead: WorkerProcess,
  remains: DeadProcessWork,
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
  const tasks = await releaseStickyTasks(dead, remains, takeover);
  reachKillPoint("recovery:queues-given-back");
  const release = ({ workflow, run }: Execution) =>
    wasFound(service.resetStickyTaskQueue({ namespace, execution: { workflowId: workflow, runId: run } }));
  await forEachConcurrently(remains.runs, release);
  await forEachConcurrently(listParents(remains.runs), (workflowId) =>
    wasFound(service.resetStickyTaskQueue({ namespace, execution: { workflowId } })),
  );
  const fail = ({ workflow, run, activityId, executions }: Activity) =>
    wasFound(
      service.respondActivityTaskFailedById({
        namespace,
        workflowId: workflow,
        runId: run,
        activityId,
        identity,
        failure: lost(executions),
      }),
    );
  await forEachConcurrently(groupByRun(remains.activities), async (activities) => {
    for (const activity of activities) {
      // The server keeps a reset in memory until it next writes the run, and forgets it over a call that it refuses:
      // a caller of sub-agents, which has nothing else to write, would wait in the dead worker's queue again.
      if (!(await fail(activity))) await release(activity);
    }
  });
  log.info(
    { process: dead.id, runs: remains.runs.length, activities: remains.activities.length, tasks },
    "Took over from a dead worker",
  );
}

type Execution = DeadProcessWork["runs"][number];
type Activity = DeadProcessWork["activities"][number];

/**
 * Jobs have no activities by which a worker would be known to hold them: the parts of a run's id before a dot name who
 * stands above it. Resetting one that is not there, or that another worker has in memory, does no harm.
 */
function listParents(runs: DeadProcessWork["runs"]): readonly string[] {
  const known = new Set(runs.map(({ workflow }) => workflow));
  const ids = runs.flatMap(({ workflow }) => {
    const parts = workflow.split(".");
    return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("."));
  });
  return [...new Set(ids)].filter((id) => id !== "" && !known.has(id));
}

function groupByRun(activities: readonly Activity[]): readonly (readonly Activity[])[] {
  const runs = new Map<string, Activity[]>();
  for (const activity of activities) runs.set(activity.run, [...(runs.get(activity.run) ?? []), activity]);
  return [...runs.values()];
}

async function forEachConcurrently<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = [...items];
  const lanes = Array.from({ length: Math.min(CONCURRENCY, left.length) }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  });
  await Promise.all(lanes);
}

/** Whether there was still something to answer or to release. */
async function wasFound(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== NOT_FOUND) throw error;
    return false;
  }
}
