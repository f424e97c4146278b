import { defaultPayloadConverter } from "@temporalio/common";
import { reachKillPoint } from "../../platform/kill-point.ts";
import type { Logger } from "../../platform/log.ts";
import type { DeadProcessWork, WorkerProcess } from "../../store/transcript/worker-process.ts";
import { listParents } from "./list-parents.ts";
import { releaseStickyTasks } from "./sticky-tasks.ts";
import type { Takeover } from "./takeover.ts";

/** The gRPC code NOT_FOUND: the activity has ended, or the run is closed, which is the desired result. */
const NOT_FOUND = 5;

/** Runs that are handled at the same time, so that the runs of a fleet do not delay the first one. */
const CONCURRENCY = 32;

/**
 * Frees the work of a dead process: its activities fail at once instead of after their heartbeat timeout, and its runs
 * no longer wait in its sticky queue (design 3.18).
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
    message: `The worker process ${dead.id} died`,
    source: "holdfast",
    applicationFailureInfo: {
      type: "WorkerLost",
      nonRetryable: true,
      details: { payloads: [defaultPayloadConverter.toPayload({ attempts: executions })] },
    },
  });
  // The queues come first: a failed activity creates a workflow task, which would wait in the dead worker's own queue;
  // and a reset does not move a task that already waits there.
  const tasks = await releaseStickyTasks(dead, remains, takeover);
  reachKillPoint("recovery:queues-given-back");
  const release = ({ workflow, run }: Execution) =>
    wasFound(service.resetStickyTaskQueue({ namespace, execution: { workflowId: workflow, runId: run } }));
  await forEachConcurrently(remains.runs, release);
  // Resetting a run that does not exist, or that another worker has in memory, does no harm.
  const parents = listParents(remains.runs.map(({ workflow }) => workflow));
  await forEachConcurrently(parents, (workflowId) =>
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
      // The server keeps a reset in memory until it next writes the run, and loses it when it rejects a call. A caller
      // of sub-agents, which writes nothing else, would then wait in the dead worker's queue again.
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

/** Returns whether there was still something to answer or to release. */
async function wasFound(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== NOT_FOUND) throw error;
    return false;
  }
}
