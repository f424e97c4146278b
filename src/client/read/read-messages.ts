import type { Entry } from "../../schema/record.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { readFromTranscript } from "./read-from-transcript.ts";

/** Which part of a conversation to read. */
export type MessagesOptions = {
  /** The first position; 0 by default. */
  readonly from?: number;
  /** The maximum number of entries. */
  readonly limit?: number;
  /** Reads the last entries, this many, instead of starting at `from`. */
  readonly last?: number;
  /** The session's head by default. */
  readonly branch?: string;
};

/** Reads the conversation of a session, ancestors' entries included. */
export async function readMessages(
  link: ClientLink,
  session: string,
  options: MessagesOptions = {},
): Promise<readonly Entry[]> {
  return await readFromTranscript(link, session, async (transcript, record) => {
    const branch = options.branch ?? record.headBranch;
    const to = await transcript.countEntries(session, branch);
    const from = options.last === undefined ? (options.from ?? 0) : Math.max(0, to - options.last);
    return await transcript.readEntries(session, branch, from, Math.min(to, from + (options.limit ?? to)));
  });
}
