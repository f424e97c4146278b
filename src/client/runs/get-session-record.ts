import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** Returns the session from this machine's transcript; throws if it is unknown. */
export async function getSessionRecord(
  link: ClientLink,
  session: string,
): Promise<{ readonly transcript: Transcript; readonly record: SessionRecord }> {
  const transcript = await link.storage.openTranscript();
  const record = await transcript.readSession(session);
  if (record !== undefined) return { transcript, record };
  throw new HoldfastError(
    "session-unknown",
    `The transcript of this machine has no session ${session}. List its sessions with \`holdfast list\`.`,
    { session },
  );
}
