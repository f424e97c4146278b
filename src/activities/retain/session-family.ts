import type { IdleSnapshot } from "../../store/transcript/archive.ts";
import { readIdleSnapshot } from "../../store/transcript/read-idle-snapshot.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";

// A session goes with those of the agents below it, or not at all.

/** As many as one agent may have started. */
const MAX_CHILDREN = 10_000;

type FamilyMember = { readonly id: string; readonly seen: IdleSnapshot };

/**
 * A session and those of agents below it, callers first. Nothing where one of them is to stay: it is kept, or somebody
 * needs it.
 */
export async function findDeletableFamily(
  root: SessionRecord,
  transcript: Transcript,
  isNeeded: (session: string) => Promise<boolean>,
): Promise<readonly FamilyMember[] | undefined> {
  const family = [root];
  const members: FamilyMember[] = [];
  // Grows while it is walked through.
  for (const one of family) {
    const seen = await readIdleSnapshot(transcript, one);
    if (one.scope === "persistent" || (await isNeeded(one.id))) return undefined;
    members.push({ id: one.id, seen });
    family.push(...(await transcript.findSessions({ limit: MAX_CHILDREN, spawnedBy: one.id })));
  }
  return members;
}

type DeleteContext = {
  readonly transcript: Transcript;
  /** Its live output. */
  readonly deleteLiveOutput: (session: string) => Promise<void>;
  readonly beat: () => void;
};

/**
 * Gives whether it went: not when the first of it has gone on meanwhile. One below that has is left alone. Those below go
 * first: who asks again after an interruption finds the rest by its callers.
 */
export async function deleteFamily(
  family: readonly FamilyMember[],
  deleting: DeleteContext,
): Promise<boolean> {
  const { archive } = deleting.transcript;
  const [root, ...below] = family;
  if (root === undefined || (await archive.beginDelete(root.id, root.seen)) === "gone-on") return false;
  for (const { id, seen } of below.reverse()) {
    if ((await archive.beginDelete(id, seen)) === true) await finishDeleting(id, deleting);
  }
  await finishDeleting(root.id, deleting);
  return true;
}

/** Begun anew first, for what others have taken a part of behind the beginning. */
export async function finishInterrupted(deleting: DeleteContext): Promise<void> {
  const { archive } = deleting.transcript;
  for (const { session, what } of await archive.listUnfinished()) {
    if (what === "deleting" && (await archive.beginDelete(session))) await finishDeleting(session, deleting);
  }
}

async function finishDeleting(
  session: string,
  { transcript, deleteLiveOutput: forget, beat }: DeleteContext,
): Promise<void> {
  while (!(await transcript.archive.deletePage(session, Date.now())).done) beat();
  await forget(session);
}
