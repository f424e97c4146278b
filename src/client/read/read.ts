import type { Entry, LoopEvent } from "../../schema/record.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Link } from "../connection/link.ts";
import { translated, unknownSession } from "../failures.ts";
import { sessionSeen } from "./cut-off.ts";

export type MessagesOptions = {
  /** The first position; 0 unless said. */
  readonly from?: number;
  /** At most so many. */
  readonly limit?: number;
  /** The last so many, in place of a first position. */
  readonly last?: number;
  /** The session's head unless said. */
  readonly branch?: string;
};

/** A loop and what happened in it. */
export type LoopHistory = { readonly loop: LoopRecord; readonly events: readonly LoopEvent[] };

/** The conversation of a session, ancestors' entries included. */
export async function readMessages(
  link: Link,
  session: string,
  options: MessagesOptions = {},
): Promise<readonly Entry[]> {
  return reading(link, session, async (transcript, record) => {
    const branch = options.branch ?? record.headBranch;
    const to = await transcript.length(session, branch);
    const from = options.last === undefined ? (options.from ?? 0) : Math.max(0, to - options.last);
    return transcript.entries(session, branch, from, Math.min(to, from + (options.limit ?? to)));
  });
}

/** All loops of a session in order of start, with their events. */
export async function readLoops(link: Link, session: string): Promise<readonly LoopHistory[]> {
  return reading(link, session, async (transcript) => {
    const loops = await transcript.loops(session);
    return Promise.all(
      loops.map(async (loop) => ({ loop, events: await transcript.events(loop.loopId, 0) })),
    );
  });
}

async function reading<T>(
  link: Link,
  session: string,
  read: (transcript: Transcript, record: SessionRecord) => Promise<T>,
): Promise<T> {
  try {
    const transcript = await link.storage.existing();
    const record = transcript && (await sessionSeen(link, transcript, session));
    if (transcript === undefined || record === undefined) throw unknownSession(link, session);
    return await read(transcript, record);
  } catch (error) {
    throw translated(error, link, session);
  }
}
