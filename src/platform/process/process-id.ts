import { hostname } from "node:os";
import { getShortHostId } from "./host-id.ts";
import { readStartTime } from "./process-group.ts";

/** A process for the other processes of its host: a pid alone is reused, a pid with its start time is not. */
export type ProcessIdentity = {
  readonly pid: number;
  /** In clock ticks since boot, "" if unknown. */
  readonly startTime: string;
};

/** Formats the id of this process, by which workers are known to the server and to the transcript. */
export function formatProcessId({ pid, startTime }: ProcessIdentity): string {
  return `${hostname()}:${pid}:${startTime || process.hrtime.bigint()}@${getShortHostId()}`;
}

/** Returns whether a process of this host is dead. A process that cannot be told apart from another counts as alive. */
export function isProcessDead({ pid, startTime }: ProcessIdentity): boolean {
  if (startTime !== "") return readStartTime(pid) !== startTime;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

const PROCESS_ID = /:(\d+):(\d+)@([0-9a-f]+)$/;

/** Returns whether an id is that of a dead process of this host. Nothing is known of the processes of other hosts. */
export function isIdOfDeadProcess(id: string): boolean {
  const [, pid, startTime = "", host] = PROCESS_ID.exec(id) ?? [];
  // Without a process table, the id has no start time that could be compared.
  if (pid === undefined || host !== getShortHostId() || readStartTime(process.pid) === "") return false;
  return isProcessDead({ pid: Number(pid), startTime });
}
