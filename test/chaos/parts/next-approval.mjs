// Whether a call ran that a person, or a rule, had to allow first.
import { waitWithin } from "./eventually.mjs";

/** Long enough for a worker on a busy machine to take the next step. */
const NEXT_STEP_MS = 60_000;

/**
 * Waits for the next thing that a run does: it asks a person, or it is over.
 *
 * @returns The calls that wait; none when it is over; undefined when nothing came.
 */
export async function waitForNextApproval(session, { not = [] } = {}) {
  return await waitWithin(
    async () => {
      const waiting = (await session.approvals.list()).filter(({ toolCallId }) => !not.includes(toolCallId));
      if (waiting.length > 0) return waiting;
      const { open } = await session.status();
      return open ? undefined : [];
    },
    { timeoutMs: NEXT_STEP_MS, everyMs: 250 },
  );
}
