import { hostname } from "node:os";
import { getShortHostId } from "../../platform/process/host-id.ts";
import { readStartTime } from "../../platform/process/process-group.ts";
import type { WorkerProcess } from "../../store/transcript/worker-process.ts";

/** This process, as others will look for it: a pid alone is given out again, a pid with its start time is not. */
export function identifyProcess(at: { namespace: string; taskQueue: string }): WorkerProcess {
  const { pid } = process;
  const host = getShortHostId();
  const startTime = readStartTime(pid);
  const id = `${hostname()}:${pid}:${startTime || process.hrtime.bigint()}@${host}`;
  return { id, host, pid, startTime, ...at };
}

/** Whether a process of this host is gone. One that cannot be told apart from another counts as alive. */
export function isProcessDead({ pid, startTime }: Pick<WorkerProcess, "pid" | "startTime">): boolean {
  if (startTime !== "") return readStartTime(pid) !== startTime;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
