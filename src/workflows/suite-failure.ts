import { CancellationScope, scheduleActivity } from "@temporalio/workflow";
import { truncateForPreview } from "../platform/text/preview.ts";
import { buildWriteOptions } from "./activity-options.ts";

const MAX_REASON_BYTES = 512;

/** Stores that a run of a suite has failed, and throws the failure. */
export async function throwSuiteFailure(run: string, error: unknown): Promise<never> {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  const failed = { reason: truncateForPreview(message, MAX_REASON_BYTES) };
  await CancellationScope.nonCancellable(() =>
    scheduleActivity("end-suite", [{ run, failed }], buildWriteOptions("the failure")),
  );
  throw error;
}
