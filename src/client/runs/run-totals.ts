import type { WorkflowExecutionDescription } from "@temporalio/client";
import { addUsage, NO_USAGE } from "../../core/budget/usage.ts";
import type { Usage } from "../../schema/message.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { ClientLink } from "../connection/client-link.ts";

/** What a run has used in all its loops. */
export type RunTotals = {
  /** The tokens of its own requests, without those of sub-agents. Absent if its loops are not in this transcript. */
  readonly usage?: Usage;
  /** From the run's start to its end. */
  readonly durationMs?: number;
};

/** Sums what a run that has ended has used. A run that continued as new counts from its first part on. */
export async function readRunTotals(
  link: ClientLink,
  description: WorkflowExecutionDescription,
  loops: readonly LoopRecord[],
): Promise<RunTotals> {
  const { closeTime } = description;
  if (closeTime === undefined) return {};
  const startMs = (await findChainStart(link, description)).getTime();
  return {
    ...sumLoopUsage(loops.filter(({ startedAtMs }) => startedAtMs >= startMs)),
    durationMs: closeTime.getTime() - startMs,
  };
}

/** Sums the usage of ended loops; of an interrupted one it is not recorded. */
export function sumLoopUsage(loops: readonly LoopRecord[]): { readonly usage?: Usage } {
  const usages = loops.flatMap(({ usage }) => usage ?? []);
  return usages.length === 0 ? {} : { usage: usages.reduce(addUsage, NO_USAGE) };
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
