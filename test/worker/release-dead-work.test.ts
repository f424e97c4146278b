import { expect, test } from "vitest";
import type { Logger } from "../../src/platform/log.ts";
import { releaseDeadWork } from "../../src/worker/failover/release-dead-work.ts";
import type { Takeover } from "../../src/worker/failover/takeover.ts";

const DEAD = { id: "p1", host: "h", pid: 1, startTime: "1", namespace: "default", taskQueue: "q" };

/** Releases the work of a dead process, and returns the workflows whose queue was reset, in order. */
async function listReleased(...workflows: readonly string[]): Promise<readonly string[]> {
  const released: string[] = [];
  const service: Partial<Takeover["service"]> = {
    getWorkflowExecutionHistoryReverse: async () => ({}),
    resetStickyTaskQueue: async ({ execution }) => released.push(execution.workflowId),
  };
  const takeover = { service, within: (_ms: number, call: () => unknown) => call(), identity: "p2" };
  const runs = workflows.map((workflow) => ({ workflow, run: `run of ${workflow}` }));
  const log = { info: () => undefined } as unknown as Logger;
  await releaseDeadWork(DEAD, { activities: [], runs }, takeover as unknown as Takeover, log);
  return released;
}

test("the jobs and agents above a dead worker's runs are released with them, each once", async () => {
  expect(await listReleased("job.part-1.scout-2", "job.part-2", "alone")).toEqual([
    "job.part-1.scout-2",
    "job.part-2",
    "alone",
    "job",
    "job.part-1",
  ]);
});
