import { randomUUID } from "node:crypto";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { translated } from "../failures.ts";
import { knownSession } from "../runs/known-session.ts";
import { sessionId } from "../session-id.ts";

/** A new session of the same agent: its definition goes on, the conversation does not (SES-19). Gives its id. */
export async function newSession(link: Link, previous: string, asked?: string): Promise<string> {
  const id = sessionId(asked);
  try {
    const { transcript } = await knownSession(link, previous);
    const made = await transcript.followSession({ id, previous, atMs: Date.now() });
    if (made === undefined || !isFollowing(made, previous)) {
      throw new HoldfastError("input-invalid", `There is a session ${id} already. Choose another id.`, {
        session: id,
      });
    }
    return id;
  } catch (error) {
    throw translated(error, link, previous);
  }
}

function isFollowing({ formation }: SessionRecord, previous: string): boolean {
  return formation.type === "explicit" && formation.previousSession === previous;
}

/**
 * The session that words for this one go to, if one that was idle for longer than `idleMs` is to be left: itself, or the
 * newest that has followed it for that reason (SES-13). Nothing is known of it: itself.
 *
 * @param nowMs - The time by which it is idle.
 */
export async function currentSession(
  link: Link,
  session: string,
  idleMs: number,
  nowMs: number = Date.now(),
): Promise<{ readonly session: string; readonly isNew: boolean }> {
  if (!Number.isFinite(idleMs) || idleMs <= 0) {
    throw new HoldfastError(
      "input-invalid",
      `rotateAfterMs is ${idleMs}; it must be a number of milliseconds above 0.`,
      {
        session,
      },
    );
  }
  try {
    const transcript = await link.storage.existing();
    if (transcript === undefined) return { session, isNew: false };
    return await transcript.rotateSession({ session, idleMs, next: randomUUID(), atMs: nowMs });
  } catch (error) {
    throw translated(error, link, session);
  }
}
