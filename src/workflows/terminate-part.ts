import { CancellationScope, condition, scheduleActivity, workflowInfo } from "@temporalio/workflow";
import { buildWriteOptions } from "./activity-options.ts";

/**
 * How long a part that was told to end may take. One that is a part itself gives its own parts up sooner, so that it
 * still closes its record: a stop is over within ten seconds.
 */
const STOP_TIMEOUT_MS = 7_000;
const PART_STOP_TIMEOUT_MS = 5_500;

/** What is said of a part that was given up. */
export const TERMINATED_TEXT = "it did not answer the stop and was terminated";

/**
 * Terminates a part that does not end though the scope around was cancelled, with all below it. Asked behind the part's
 * end, gives the end of this, or nothing where it was not needed.
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

/** Where it cannot be done, the part is waited for. */
function terminatePart(workflow: string): Promise<void> {
  return CancellationScope.nonCancellable(() =>
    scheduleActivity<void>("end-part", [{ workflow }], buildWriteOptions("it does not answer the stop")),
  ).catch(() => undefined);
}
