import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { getSessionRecord } from "./get-session-record.ts";

/** Exempts a session from every retention policy, or ends the exemption. */
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
