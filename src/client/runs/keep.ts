import type { Link } from "../connection/link.ts";
import { translated } from "../failures.ts";
import { knownSession } from "./known-session.ts";

/** Takes a session out of every retention policy, or puts it back. */
export async function keepSession(link: Link, session: string, kept: boolean): Promise<void> {
  try {
    const { transcript } = await knownSession(link, session);
    await transcript.archive.setScope(session, kept ? "persistent" : "ephemeral");
  } catch (error) {
    throw translated(error, link, session);
  }
}
