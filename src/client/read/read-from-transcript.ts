import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { createUnknownSessionError, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { readRefreshedSession } from "./abort-cut-off-loops.ts";

/** Reads from the transcript of a session that exists, after its runs that were cut off are marked as aborted. */
export async function readFromTranscript<T>(
  link: ClientLink,
  session: string,
  read: (transcript: Transcript, record: SessionRecord) => Promise<T>,
): Promise<T> {
  try {
    const transcript = await link.storage.openExistingTranscript();
    const record = transcript && (await readRefreshedSession(link, transcript, session));
    if (transcript === undefined || record === undefined) throw createUnknownSessionError(link, session);
    return await read(transcript, record);
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}
