import { CancellationScope, condition, scheduleActivity, workflowInfo } from "@temporalio/workflow";
import { buildWriteOptions } from "./activity-options.ts";

/**
 * How long a part that was asked to stop may take. A run that is a part itself gives its own parts less
 * time, so that it can still close its record: a stop takes at most ten seconds.
 */
const STOP_TIMEOUT_MS = 7_000;
const PART_STOP_TIMEOUT_MS = 5_500;

/** The description of a part that was terminated. */
export const TERMINATED_TEXT = "it did not respond to the stop and was terminated";

/**
 * Terminates a part and everything below it when the part does not end after a cancellation of the surrounding scope.
 *
 * @returns A function to call after the part's end. It returns the end of the termination, or `undefined` when none
 * was needed.
 */
export function terminateIfUnresponsive(
  workflow: string,
  awaited: Promise<unknown>,
): () => Promise<void> | undefined {
  let isEnded = false;
  let ending: Promise<void> | undefined;
  const end = (): void => {
    isEnded = true;
  };
  awaited.then(end, end);
  CancellationScope.current().cancelRequested.catch(() => {
    if (isEnded) return;
    void CancellationScope.nonCancellable(() => condition(() => isEnded, getStopTimeout())).then((ended) => {
      if (!ended) ending = terminatePart(workflow);
    });
  });
  return () => ending;
}

function getStopTimeout(): number {
  return workflowInfo().parent === undefined ? STOP_TIMEOUT_MS : PART_STOP_TIMEOUT_MS;
}

/** Terminates a part. If that fails, the run waits for the part. */
function terminatePart(workflow: string): Promise<void> {
  return CancellationScope.nonCancellable(() =>
    scheduleActivity<void>(
      "terminate-part",
      [{ workflowId: workflow }],
      buildWriteOptions("it does not respond to the stop"),
    ),
  ).catch(() => undefined);
}
