import { hostname } from "node:os";
import { getShortHostId } from "../../platform/process/host-id.ts";
import { readStartTime } from "../../platform/process/process-group.ts";
import type { WorkerProcess } from "../../store/transcript/worker-process.ts";

/** Identifies this process for its siblings: a pid alone is reused, a pid with its start time is not. */
export function identifyProcess(at: { namespace: string; taskQueue: string }): WorkerProcess {
  const { pid } = process;
  const host = getShortHostId();
  const startTime = readStartTime(pid);
  const id = `${hostname()}:${pid}:${startTime || process.hrtime.bigint()}@${host}`;
  return { id, host, pid, startTime, ...at };
}

/** Returns whether a process of this host is dead. A process that cannot be told apart from another counts as alive. */
export function isProcessDead({ pid, startTime }: Pick<WorkerProcess, "pid" | "startTime">): boolean {
  if (startTime !== "") return readStartTime(pid) !== startTime;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
