import { getShortHostId } from "../../platform/process/host-id.ts";
import { readStartTime } from "../../platform/process/process-group.ts";
import { formatProcessId } from "../../platform/process/process-id.ts";
import type { WorkerProcess } from "../../store/transcript/worker-process.ts";

/** Identifies this process for its siblings. */
export function identifyProcess(at: { namespace: string; taskQueue: string }): WorkerProcess {
  const { pid } = process;
  const startTime = readStartTime(pid);
  return { id: formatProcessId({ pid, startTime }), host: getShortHostId(), pid, startTime, ...at };
}
