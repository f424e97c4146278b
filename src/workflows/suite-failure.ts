import { CancellationScope, scheduleActivity } from "@temporalio/workflow";
import { truncateForPreview } from "../platform/text/preview.ts";
import { buildWriteOptions } from "./activity-options.ts";

const MAX_REASON_BYTES = 512;

/** Stores that a run of a suite has failed, and throws the failure. */
export async function throwSuiteFailure(run: string, error: unknown): Promise<never> {
  const failed = { reason: describeFailure(error) };
  await CancellationScope.nonCancellable(() =>
    scheduleActivity("end-suite", [{ run, failed }], buildWriteOptions("the failure")),
  );
  throw error;
}

/** Returns the message of the innermost cause. */
export function describeFailure(error: unknown): string {
  if (error instanceof Error && error.cause instanceof Error) return describeFailure(error.cause);
  return truncateForPreview(error instanceof Error ? error.message : String(error), MAX_REASON_BYTES);
}
