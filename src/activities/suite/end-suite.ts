import type { EndSuiteInput, SuiteTotals } from "../../core/suite/suite-parts.ts";
import type { Dependencies } from "../dependencies.ts";
import { toFailure } from "../step/failure.ts";

/** Stores how a run of a suite has ended, and counts its cells. */
export async function endSuite(
  { run, stopped, failed }: EndSuiteInput,
  { transcript: { suites } }: Pick<Dependencies, "transcript">,
): Promise<SuiteTotals> {
  try {
    const status = failed !== undefined ? "failed" : stopped !== undefined ? "stopped" : "ended";
    await suites.setStatus(run, {
      status,
      reason: (failed ?? stopped)?.reason,
      stopCode: stopped?.code,
      atMs: Date.now(),
    });
    const { finished, failed: failures, pending, costUsd } = await suites.countCells(run);
    return { finished, failed: failures, pending, costUsd };
  } catch (error) {
    throw toFailure(error);
  }
}
