import { randomUUID } from "node:crypto";
import type { SessionRecord } from "../../store/transcript/session.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { resolveSessionId } from "../resolve-session-id.ts";
import { getSessionRecord } from "../runs/get-session-record.ts";

/** A new session of the same agent: its definition goes on, the conversation does not (SES-19). Gives its id. */
export async function createFollowingSession(
  link: ClientLink,
  previous: string,
  requestedId?: string,
): Promise<string> {
  const id = resolveSessionId(requestedId);
  try {
    const { transcript } = await getSessionRecord(link, previous);
    const created = await transcript.followSession({ id, previous, atMs: Date.now() });
    if (created === undefined || !isFollowing(created, previous)) {
      throw new HoldfastError("input-invalid", `There is a session ${id} already. Choose another id.`, {
        session: id,
      });
    }
    return id;
  } catch (error) {
    throw toHoldfastError(error, link, previous);
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
export async function findCurrentSession(
  link: ClientLink,
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
    const transcript = await link.storage.openExistingTranscript();
    if (transcript === undefined) return { session, isNew: false };
    return await transcript.rotateSession({ session, idleMs, next: randomUUID(), atMs: nowMs });
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}
