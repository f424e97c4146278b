import { toUsd } from "../../core/budget/amounts.ts";
import { NO_USAGE } from "../../core/budget/usage.ts";
import type { RunTotals } from "../../core/machine/state/run-totals.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { RunResult } from "../../workflows/run-result.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { getRetryingTranscript } from "./retry-outage.ts";

/** Returns what a loop has used, by its record. */
export async function readLoopTotals(transcript: Transcript, loop: LoopRecord): Promise<RunTotals> {
  const events = await transcript.readEvents(loop.loopId, 0);
  const startedAtMs = events.find(({ body }) => body.type === "AgentStart")?.atMs ?? loop.startedAtMs;
  const endedAtMs = events.findLast(({ body }) => body.type === "AgentEnd")?.atMs ?? startedAtMs;
  return {
    usage: loop.usage ?? NO_USAGE,
    costUsd: loop.costUsd ?? null,
    turns: loop.turns ?? 0,
    durationMs: endedAtMs - startedAtMs,
  };
}

/**
 * Adds what a run has used to its result. The result of a sub-agent's run, or of a job's part, has only a report: the rest is
 * in the transcript. Without it, only `totalTokens` of the usage is known, and the duration is 0.
 */
export async function addTotals<Result extends RunResult>(
  link: ClientLink,
  result: Result,
  signal: AbortSignal | undefined,
): Promise<Result & RunTotals> {
  const { usage, costUsd, turns, durationMs, report } = result;
  if (usage !== undefined && costUsd !== undefined && turns !== undefined && durationMs !== undefined)
    return { ...result, usage, costUsd, turns, durationMs };
  const transcript = await getRetryingTranscript(link.storage, signal).catch(() => undefined);
  const loops = (await transcript?.readLoops(result.session).catch(() => [])) ?? [];
  const loop = loops.find(({ loopId }) => loopId === (report?.loopId ?? result.loopId));
  const recorded = transcript && loop && (await readLoopTotals(transcript, loop));
  const used = report?.used;
  const known = { usage: { ...NO_USAGE, totalTokens: used?.tokens ?? 0 }, durationMs: 0 };
  const reported =
    used === undefined ? { costUsd: null, turns: 0 } : { costUsd: toUsd(used.nanoUsd), turns: used.turns };
  return { ...result, ...known, ...recorded, ...reported };
}
