import { pid as ownPid } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { getShortHostId } from "../../platform/process/host-id.ts";
import { killGroup, readStartTime } from "../../platform/process/process-group.ts";
import type { Delta } from "../../store/stream/stream-hub.ts";
import type { LostExecution, Step } from "../../store/transcript/step.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Dependencies } from "../dependencies.ts";
import type { Execution } from "./execution.ts";
import type { OwnClaim } from "./own-claims.ts";

/**
 * The most characters of printed output in the result of an unknown outcome. The end is kept, because it says more
 * than the beginning.
 */
const PRINTED_CHARACTERS = 8000;

export type CleanupResult =
  | "nothing was running any more"
  | "what was still running was terminated"
  | "it ran on another host";

/** Terminates what is still running of a lost execution, before anything is said about it. */
export async function terminateLost(
  { group, process }: LostExecution,
  call: string,
  { log }: Dependencies,
): Promise<CleanupResult> {
  if (!process.endsWith(`@${getShortHostId()}`)) return "it ran on another host";
  if (group === undefined) return "nothing was running any more";
  const outcome = await killGroup(group, call);
  log.info({ group, outcome }, "Cleaned up a lost execution");
  return outcome === "ended" ? "what was still running was terminated" : "nothing was running any more";
}

/**
 * Returns whether a process is certainly dead: it ran on this host and runs no more, or it is unregistered, as
 * siblings do for a dead process. A living worker whose heartbeat did not reach the server is not dead.
 */
export async function isDead(
  process: string,
  transcript: Pick<Transcript, "listProcesses">,
): Promise<boolean> {
  const [, pid, startTime, host] = /:(\d+):([^:@]*)@([^@]*)$/.exec(process) ?? [];
  if (host === undefined) return false;
  const canTell = readStartTime(ownPid) !== "";
  if (host === getShortHostId() && canTell) return readStartTime(Number(pid)) !== startTime;
  return (await transcript.listProcesses(host)).every(({ id }) => id !== process);
}

/**
 * How long a worker that takes over waits for a living worker to release a step that it has not begun, or to store its
 * result.
 */
const YIELD_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 200;

/**
 * Waits while a living worker holds a step: it may store its result, or release the step as not begun. That worker may
 * be this process, whose heartbeats came too late while it works on the call.
 */
export async function yieldToHolder(
  step: Step,
  own: Pick<OwnClaim, "isRunning">,
  transcript: Pick<Transcript, "findClaimHolder" | "listProcesses">,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = performance.now() + YIELD_TIMEOUT_MS;
  while (performance.now() < untilMs && !signal.aborted) {
    const holder = await transcript.findClaimHolder(step);
    if (holder === undefined) return;
    const isOwn = holder.process === step.process;
    if (isOwn ? !own.isRunning(holder.generation) : await isDead(holder.process, transcript)) return;
    await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Builds the result of an `unsafe` call whose execution was lost: the known facts, and what to do.
 *
 * @param died - Whether its worker is known to be dead.
 */
export function buildUnknownOutcome(
  lost: LostExecution,
  died: boolean,
  ended: CleanupResult,
  deltas: readonly Delta[],
): Execution {
  const printed = deltas
    .flatMap(({ body }) => (body.type === "tool-output" ? [body.text] : []))
    .join("")
    .slice(-PRINTED_CHARACTERS);
  const text = [
    `The outcome of this call is unknown. It was started at ${new Date(lost.startedAtMs).toISOString()}, then its worker ${died ? "died" : "stopped working on it"}; ${ended}. It was not run again.`,
    printed === "" ? "It printed nothing that was received." : `Its output until then:\n${printed}`,
    "Check what it has changed before you repeat it.",
  ].join("\n");
  return { output: { content: [{ type: "text", text }] }, isError: true, outcomeUnknown: true };
}
