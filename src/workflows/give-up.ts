import { CancellationScope, condition, scheduleActivity, workflowInfo } from "@temporalio/workflow";
import { writeOptions } from "./activity-options.ts";

/**
 * How long a part that was told to end may take. One that is a part itself gives its own parts up sooner, so that it
 * still closes its record: a stop is over within ten seconds.
 */
const PATIENCE_MS = 7_000;
const PATIENCE_OF_A_PART_MS = 5_500;

/** What is said of a part that was given up. */
export const GIVEN_UP = "it did not answer the stop and was terminated";

/**
 * Terminates a part that does not end though the scope around was cancelled, with all below it. Asked behind the part's
 * end, gives the end of this, or nothing where it was not needed.
 */
export function giveUpIfDeaf(workflow: string, awaited: Promise<unknown>): () => Promise<void> | undefined {
  let over = false;
  let ending: Promise<void> | undefined;
  const end = (): void => {
    over = true;
  };
  awaited.then(end, end);
  CancellationScope.current().cancelRequested.catch(() => {
    if (over) return;
    void CancellationScope.nonCancellable(() => condition(() => over, patience())).then((ended) => {
      if (!ended) ending = endPart(workflow);
    });
  });
  return () => ending;
}

function patience(): number {
  return workflowInfo().parent === undefined ? PATIENCE_MS : PATIENCE_OF_A_PART_MS;
}

/** Where it cannot be done, the part is waited for. */
function endPart(workflow: string): Promise<void> {
  return CancellationScope.nonCancellable(() =>
    scheduleActivity<void>("end-part", [{ workflow }], writeOptions("it does not answer the stop")),
  ).catch(() => undefined);
}
