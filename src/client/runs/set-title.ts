import { titleSignal } from "../../workflows/messages.ts";
import { hasRunEnded, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { getSessionRecord } from "./get-session-record.ts";
import { checkTitle } from "./run-title.ts";

/** Gives a session another title, which its open run displays, too. Returns the title as it is stored. */
export async function setSessionTitle(link: ClientLink, session: string, title: string): Promise<string> {
  const text = checkTitle(title);
  try {
    const { transcript } = await getSessionRecord(link, session);
    await transcript.archive.setTitle(session, { text, by: "user" });
    if (link.settings.redactContent !== true) await displayTitle(link, session, text);
    return text;
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

async function displayTitle(link: ClientLink, session: string, title: string): Promise<void> {
  try {
    await link.client.workflow.getHandle(session).signal(titleSignal, title);
  } catch (error) {
    if (!hasRunEnded(error)) throw error;
  }
}
