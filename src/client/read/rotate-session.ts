import { randomUUID } from "node:crypto";
import type { SessionRecord } from "../../store/transcript/session.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { resolveSessionId } from "../resolve-session-id.ts";
import { getSessionRecord } from "../runs/get-session-record.ts";

/** Creates a session with the same definition and an empty conversation (SES-19). Returns its id. */
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
      throw new HoldfastError("input-invalid", `A session ${id} already exists. Choose another id.`, {
        session: id,
      });
    }
    return id;
  } catch (error) {
    throw toHoldfastError(error, link, previous);
  }
}

function isFollowing({ origin }: SessionRecord, previous: string): boolean {
  return origin.type === "explicit" && origin.previousSession === previous;
}

/**
 * Returns the session that receives messages for this one after an idle rotation: the newest session that followed it
 * because it was idle for longer than `idleMs` (SES-13), or the session itself. An unknown session is returned unchanged.
 *
 * @param nowMs - The current time, to compare with the last activity.
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
    return await transcript.rotateSession({ session, idleMs, nextId: randomUUID(), atMs: nowMs });
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}
