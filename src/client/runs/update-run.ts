import type { UpdateDefinition } from "@temporalio/common";
import { ANSWER_TIMEOUT_MS, type Link } from "../connection/link.ts";
import type { HoldfastError } from "../error.ts";
import { endedMeanwhile, translated } from "../failures.ts";
import { isKnown } from "./send.ts";

/**
 * Has the run of a session take an update, and gives what it says.
 *
 * @param atRest - The error for a session that has no run to take it.
 */
export async function updateRun<Said, Words>(
  link: Link,
  session: string,
  update: UpdateDefinition<Said, [Words]>,
  words: Words,
  atRest: (session: string, cause: unknown) => HoldfastError,
): Promise<Said> {
  try {
    return await link.connection.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, () =>
      link.client.workflow.getHandle(session).executeUpdate(update, { args: [words] }),
    );
  } catch (error) {
    if (endedMeanwhile(error) && (await isKnown(link, session))) throw atRest(session, error);
    throw translated(error, link, session);
  }
}
