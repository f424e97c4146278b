import type { UpdateDefinition } from "@temporalio/common";
import { hasRunEnded, toHoldfastError } from "../client-errors.ts";
import { ANSWER_TIMEOUT_MS, type ClientLink } from "../connection/client-link.ts";
import type { HoldfastError } from "../holdfast-error.ts";
import { sessionExists } from "./queue-message.ts";

/**
 * Sends an update to the run of a session, and returns its answer.
 *
 * @param createIdleError - Creates the error for a session without a run.
 */
export async function sendRunUpdate<Said, Words>(
  link: ClientLink,
  session: string,
  update: UpdateDefinition<Said, [Words]>,
  input: Words,
  createIdleError: (session: string, cause: unknown) => HoldfastError,
): Promise<Said> {
  try {
    return await link.connection.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
      link.client.workflow.getHandle(session).executeUpdate(update, { args: [input] }),
    );
  } catch (error) {
    if (hasRunEnded(error) && (await sessionExists(link, session))) throw createIdleError(session, error);
    throw toHoldfastError(error, link, session);
  }
}
