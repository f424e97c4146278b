import { setTimeout as delay } from "node:timers/promises";
import { computePauseMs } from "../async/back-off.ts";
import {
  findCarriers,
  HAS_PROCESS_TABLE,
  listProcesses,
  type ProcessEntry,
  readProcess,
} from "./process-table.ts";

// Invariants
//   G1. Only members of the group that was started are signalled; the group's number alone proves nothing.
//   G2. "gone" and "ended" are returned only after a check found no running member.
//
// The system does not reuse a process group number while the group has a member. So a leader with the known
// start time, or a member that has the call's marker, identifies the group. Numbers belong to one kernel and
// one pid namespace: they are valid only on the host that started the group.
//
// Without /proc (on any system but Linux) there is neither a start time nor a marker: only `kill(-pgid, 0)`
// remains, and a reused number cannot be distinguished.

/** A process group that a tool has started, with the facts to find it after the worker's death. */
export type SpawnedGroup = {
  /** The id of the group, which is that of its leader's process. */
  readonly pgid: number;
  /** The start time of the group's leader in clock ticks since boot (field 22 of /proc/PID/stat), "" if unknown. */
  readonly startTime: string;
};

/** The variable that identifies the call in the environment of all processes that it starts. */
export const CALL_VARIABLE = "HOLDFAST_CALL";

/** SIGKILL works at once except for a process in an uninterruptible wait, such as for a dead network disk. */
const GIVE_UP_AFTER_MS = 10_000;

/** Returns "" if the process does not exist or its start time is unknown. */
export function readStartTime(pid: number): string {
  return readProcess(pid)?.startTime ?? "";
}

/** @param call - The value of the marker; it also finds processes that have left the group, such as daemons. */
export async function isGroupAlive(group: SpawnedGroup, call: string): Promise<boolean> {
  if (!HAS_PROCESS_TABLE) return signalGroup(group.pgid, 0);
  const { members, strays } = await findProcesses(group, call);
  return members.length + strays.length > 0;
}

/** Kills the remaining processes of a call before another worker takes over. "gone": there were none. */
export async function killGroup(
  group: SpawnedGroup,
  call: string,
  giveUpAfterMs: number = GIVE_UP_AFTER_MS,
): Promise<"gone" | "ended"> {
  let wasAlive = false;
  await pollUntilGone(group.pgid, giveUpAfterMs, async () => {
    if (!HAS_PROCESS_TABLE) {
      const alive = signalGroup(group.pgid, "SIGKILL");
      wasAlive ||= alive;
      return !alive;
    }
    const { members, strays } = await findProcesses(group, call);
    if (members.length > 0) signalGroup(group.pgid, "SIGKILL");
    for (const stray of strays) signalProcess(stray.pid, "SIGKILL");
    const isGone = members.length + strays.length === 0;
    wasAlive ||= !isGone;
    return isGone;
  });
  return wasAlive ? "ended" : "gone";
}

/** Waits for a group that this process started and has just sent SIGKILL to. */
export async function waitUntilGone(pgid: number): Promise<void> {
  let polls = 0;
  await pollUntilGone(pgid, GIVE_UP_AFTER_MS, async () => {
    if (!signalGroup(pgid, 0)) return true;
    // Dead processes also answer until they are reaped. Only the slower process table distinguishes them.
    polls += 1;
    if (polls < 3 || !HAS_PROCESS_TABLE) return false;
    const members = (await listProcesses()).filter((entry) => entry.pgid === pgid);
    if (members.length > 0) signalGroup(pgid, "SIGKILL");
    return members.length === 0;
  });
}

/** Signals a group. Returns false if the group does not exist. */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  // For the system, 0 is this process's own group and 1 is all processes.
  if (!Number.isInteger(pgid) || pgid <= 1) throw new RangeError(`${pgid} is not a process group to signal`);
  return signalProcess(-pgid, signal);
}

function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    // EPERM: it exists and belongs to another user (a set-uid program).
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

const POLL_BACK_OFF = { firstMs: 1, longestMs: 50 };

async function pollUntilGone(
  pgid: number,
  giveUpAfterMs: number,
  isGone: () => Promise<boolean>,
): Promise<void> {
  const giveUpAt = performance.now() + giveUpAfterMs;
  for (let polls = 1; !(await isGone()); polls += 1) {
    if (performance.now() > giveUpAt) {
      throw new Error(`Process group ${pgid} is still alive ${giveUpAfterMs} ms after SIGKILL`);
    }
    await delay(computePauseMs(POLL_BACK_OFF, polls));
  }
}

async function findProcesses(
  group: SpawnedGroup,
  call: string,
): Promise<{ members: ProcessEntry[]; strays: ProcessEntry[] }> {
  const running = (await listProcesses()).filter((entry) => entry.pid !== process.pid);
  const marked =
    call === undefined ? new Set<ProcessEntry>() : await findCarriers(`${CALL_VARIABLE}=${call}`, running);
  const sameNumber = running.filter((entry) => entry.pgid === group.pgid && entry.session === group.pgid);
  const leader = readProcess(group.pgid);
  const isOwnGroup =
    leader !== undefined && group.startTime !== ""
      ? leader.startTime === group.startTime
      : sameNumber.some((entry) => marked.has(entry));
  const members = isOwnGroup ? sameNumber : [];
  return { members, strays: [...marked].filter((entry) => !members.includes(entry)) };
}
