import type { Entry, LoopEvent } from "../../schema/record.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { createUnknownSessionError, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { readRefreshedSession } from "./abort-cut-off-loops.ts";

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

/** A loop and its events. */
export type LoopHistory = { readonly loop: LoopRecord; readonly events: readonly LoopEvent[] };

/** Reads the conversation of a session, ancestors' entries included. */
export async function readMessages(
  link: ClientLink,
  session: string,
  options: MessagesOptions = {},
): Promise<readonly Entry[]> {
  return readFromTranscript(link, session, async (transcript, record) => {
    const branch = options.branch ?? record.headBranch;
    const to = await transcript.countEntries(session, branch);
    const from = options.last === undefined ? (options.from ?? 0) : Math.max(0, to - options.last);
    return transcript.readEntries(session, branch, from, Math.min(to, from + (options.limit ?? to)));
  });
}

/** Reads all loops of a session in order of start, with their events. */
export async function readLoops(link: ClientLink, session: string): Promise<readonly LoopHistory[]> {
  return readFromTranscript(link, session, async (transcript) => {
    const loops = await transcript.readLoops(session);
    return Promise.all(
      loops.map(async (loop) => ({ loop, events: await transcript.readEvents(loop.loopId, 0) })),
    );
  });
}

async function readFromTranscript<T>(
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
