import { raceTimeout } from "../../../platform/async/race.ts";

/** How long the real stack may take to reach the next step. */
export const STEP_TIMEOUT_MS = 20_000;

export async function withStepTimeout(work: Promise<void>, what: string): Promise<void> {
  const isDone = await raceTimeout(
    work.then(() => true),
    STEP_TIMEOUT_MS,
  );
  if (isDone === undefined) throw new Error(`the server did not reach ${what} within ${STEP_TIMEOUT_MS} ms`);
}
