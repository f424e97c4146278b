import { setTimeout as delay } from "node:timers/promises";
import {
  findCarriers,
  HAS_PROCESS_TABLE,
  listProcesses,
  type ProcessEntry,
  readProcess,
} from "./process-table.ts";

// Invariants
//   G1. Nothing is signalled unless it is of the group that was started: the number alone proves nothing.
//   G2. "gone" and "ended" are said only after a look found no running member.
//
// A process group number is not given out again while the group has a member, so a leader with the known
// start time, or a member that carries the call's marker, identifies the group. Numbers are those of one
// kernel and one pid namespace: ask only on the host where the group was started.
//
// Without /proc (anything but Linux) there is neither a start time nor a marker to look at: `kill(-pgid, 0)`
// is all there is, and a number that was given out again cannot be told from ours.

/** A process group that a tool has started, known well enough to be found again after the worker is gone. */
export type SpawnedGroup = {
  readonly pgid: number;
  /** Start time of the group's leader in clock ticks since boot (field 22 of /proc/PID/stat), "" where unknown. */
  readonly startTime: string;
};

/** Names the call in the environment of everything that it starts. */
export const CALL_VARIABLE = "HOLDFAST_CALL";

/** SIGKILL works at once except for a process in an uninterruptible wait, such as for a dead network disk. */
const GIVE_UP_AFTER_MS = 10_000;

/** "" when there is no such process or no way to know. */
export function readStartTime(pid: number): string {
  return readProcess(pid)?.startTime ?? "";
}

/** @param call - What the marker says; also finds what has left the group, such as a daemon. */
export async function isGroupAlive(group: SpawnedGroup, call: string): Promise<boolean> {
  if (!HAS_PROCESS_TABLE) return signalGroup(group.pgid, 0);
  const { members, strays } = await findProcesses(group, call);
  return members.length + strays.length > 0;
}

/** Ends what is left of a call's processes, for whoever takes over. "gone": there was nothing left. */
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
  let countLiving = 0;
  await pollUntilGone(pgid, GIVE_UP_AFTER_MS, async () => {
    if (!signalGroup(pgid, 0)) return true;
    // The dead answer too until they are reaped; the table tells them from the living, at a price.
    countLiving += 1;
    if (countLiving < 3 || !HAS_PROCESS_TABLE) return false;
    const members = (await listProcesses()).filter((entry) => entry.pgid === pgid);
    if (members.length > 0) signalGroup(pgid, "SIGKILL");
    return members.length === 0;
  });
}

/** False when there is no such group. */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  // To the system 0 is our own group and 1 is everyone.
  if (!Number.isInteger(pgid) || pgid <= 1) throw new RangeError(`${pgid} is not a process group to signal`);
  return signalProcess(-pgid, signal);
}

function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    // EPERM: it is there, and belongs to someone else now (a set-uid program).
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

async function pollUntilGone(
  pgid: number,
  giveUpAfterMs: number,
  isGone: () => Promise<boolean>,
): Promise<void> {
  const giveUpAt = performance.now() + giveUpAfterMs;
  for (let pauseMs = 1; !(await isGone()); pauseMs = Math.min(pauseMs * 2, 50)) {
    if (performance.now() > giveUpAt) {
      throw new Error(`Process group ${pgid} is still alive ${giveUpAfterMs} ms after SIGKILL`);
    }
    await delay(pauseMs);
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
