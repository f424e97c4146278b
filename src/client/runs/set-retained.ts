import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { getSessionRecord } from "./get-session-record.ts";

/** Takes a session out of every retention policy, or puts it back. */
export async function setSessionRetained(
  link: ClientLink,
  session: string,
  isRetained: boolean,
): Promise<void> {
  try {
    const { transcript } = await getSessionRecord(link, session);
    await transcript.archive.setScope(session, isRetained ? "persistent" : "ephemeral");
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}
