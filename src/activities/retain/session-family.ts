import type { IdleSnapshot } from "../../store/transcript/archive.ts";
import { readIdleSnapshot } from "../../store/transcript/read-idle-snapshot.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

// A session is deleted together with the sessions of the agents below it, or not at all.

/** The most sub-agents that one agent may have started. */
const MAX_CHILDREN = 10_000;

type FamilyMember = { readonly id: string; readonly idleSnapshot: IdleSnapshot };

/**
 * Finds a session and the sessions of the agents below it, callers first. Returns `undefined` when one of them must
 * stay, because it is retained or still needed.
 */
export async function findDeletableFamily(
  root: SessionRecord,
  transcript: Transcript,
  isNeeded: (session: string) => Promise<boolean>,
): Promise<readonly FamilyMember[] | undefined> {
  const family = [root];
  const members: FamilyMember[] = [];
  // The list grows during the iteration.
  for (const one of family) {
    const seen = await readIdleSnapshot(transcript, one);
    if (one.scope === "persistent" || (await isNeeded(one.id))) return undefined;
    members.push({ id: one.id, idleSnapshot: seen });
    family.push(...(await transcript.findSessions({ limit: MAX_CHILDREN, spawnedBy: one.id })));
  }
  return members;
}

type DeleteContext = {
  readonly transcript: Transcript;
  /** Deletes the session's live output. */
  readonly deleteLiveOutput: (session: string) => Promise<void>;
  readonly beat: () => void;
};

/**
 * Deletes a family, and returns whether it was deleted: not when the root session has continued meanwhile. A
 * descendant that has continued is left alone. Descendants are deleted first, so that a repetition after an
 * interruption finds the rest by their callers.
 */
export async function deleteFamily(
  family: readonly FamilyMember[],
  deleting: DeleteContext,
): Promise<boolean> {
  const { archive } = deleting.transcript;
  const [root, ...below] = family;
  if (root === undefined || (await archive.beginDelete(root.id, root.idleSnapshot)) === "continued")
    return false;
  for (const { id, idleSnapshot } of below.reverse()) {
    if ((await archive.beginDelete(id, idleSnapshot)) === true) await finishDeleting(id, deleting);
  }
  await finishDeleting(root.id, deleting);
  return true;
}

/**
 * Finishes interrupted deletions. Each one begins again first, because forks may have taken a part of the session
 * after the first beginning.
 */
export async function finishInterrupted(deleting: DeleteContext): Promise<void> {
  const { archive } = deleting.transcript;
  for (const { session, operation } of await archive.listUnfinished()) {
    if (operation === "deleting" && (await archive.beginDelete(session)))
      await finishDeleting(session, deleting);
  }
}

async function finishDeleting(
  session: string,
  { transcript, deleteLiveOutput: forget, beat }: DeleteContext,
): Promise<void> {
  while (!(await transcript.archive.deletePage(session, Date.now())).done) beat();
  await forget(session);
}
