import type { WorkflowExecutionDescription } from "@temporalio/client";
import { addUsage, NO_USAGE } from "../../core/budget/usage.ts";
import type { RunTotals } from "../../core/machine/state/run-totals.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { readLoopTotals } from "./loop-totals.ts";

/** Absent if there is no record of a loop. */
type RecordedTotals = Partial<Pick<RunTotals, "usage" | "durationMs">>;

/**
 * Sums what the loops of a run that has ended have used. A run that continued as new counts from its first part on. A job has
 * no loops of its own: it has the time from its start to its end.
 */
export async function readRunTotals(
  link: ClientLink,
  description: WorkflowExecutionDescription,
  transcript: Transcript | undefined,
  loops: readonly LoopRecord[],
): Promise<RecordedTotals> {
  const { closeTime } = description;
  if (closeTime === undefined) return {};
  const startMs = (await findChainStart(link, description)).getTime();
  const ownLoops = loops.filter(({ startedAtMs }) => startedAtMs >= startMs);
  if (transcript === undefined || ownLoops.length === 0) return { durationMs: closeTime.getTime() - startMs };
  return await sumLoopTotals(transcript, ownLoops);
}

/** The usage of an interrupted loop is not recorded; it is absent if no loop has one. */
export async function sumLoopTotals(
  transcript: Transcript,
  loops: readonly LoopRecord[],
): Promise<RecordedTotals> {
  const totals = await Promise.all(loops.map((loop) => readLoopTotals(transcript, loop)));
  const usages = loops.flatMap(({ usage }) => usage ?? []);
  return {
    ...(usages.length === 0 ? {} : { usage: usages.reduce(addUsage, NO_USAGE) }),
    durationMs: totals.reduce((sum, { durationMs }) => sum + durationMs, 0),
  };
}

async function findChainStart(
  link: ClientLink,
  { workflowId, runId, startTime, raw }: WorkflowExecutionDescription,
): Promise<Date> {
  const firstRunId = raw.workflowExecutionInfo?.firstRunId;
  if (!firstRunId || firstRunId === runId) return startTime;
  // The server may have deleted the first part already.
  return await link.client.workflow
    .getHandle(workflowId, firstRunId)
    .describe()
    .then((first) => first.startTime)
    .catch(() => startTime);
}
