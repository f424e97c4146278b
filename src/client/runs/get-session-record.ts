import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** The session as this machine's transcript has it; an error when it has none. */
export async function getSessionRecord(
  link: ClientLink,
  session: string,
): Promise<{ readonly transcript: Transcript; readonly record: SessionRecord }> {
  const transcript = await link.storage.openTranscript();
  const record = await transcript.readSession(session);
  if (record !== undefined) return { transcript, record };
  throw new HoldfastError(
    "session-unknown",
    `The transcript of this machine has no session ${session}. \`holdfast list\` shows those that it has.`,
    { session },
  );
}
