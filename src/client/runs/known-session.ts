import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";

/** The session as this machine's transcript has it; an error when it has none. */
export async function knownSession(
  link: Link,
  session: string,
): Promise<{ readonly transcript: Transcript; readonly record: SessionRecord }> {
  const transcript = await link.storage.transcript();
  const record = await transcript.session(session);
  if (record !== undefined) return { transcript, record };
  throw new HoldfastError(
    "session-unknown",
    `The transcript of this machine has no session ${session}. \`holdfast list\` shows those that it has.`,
    { session },
  );
}
