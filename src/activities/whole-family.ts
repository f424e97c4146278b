import type { SessionRecord } from "../transcript/session.ts";
import type { Transcript } from "../transcript/transcript.ts";

// A session goes with those of the agents below it, or not at all.

/** As many as one agent may have started. */
const MAX_CHILDREN = 10_000;

/**
 * A session and those of agents below it, callers first. Nothing where one of them is to stay: it is kept, or somebody
 * needs it.
 */
export async function familyToGo(
  root: SessionRecord,
  transcript: Transcript,
  isNeeded: (session: string) => Promise<boolean>,
): Promise<readonly SessionRecord[] | undefined> {
  const family = [root];
  // Grows while it is walked through.
  for (const one of family) {
    if (one.scope === "persistent" || (await isNeeded(one.id))) return undefined;
    family.push(...(await transcript.sessions({ limit: MAX_CHILDREN, spawnedBy: one.id })));
  }
  return family;
}

type Deleting = {
  readonly transcript: Transcript;
  /** Its live output. */
  readonly forget: (session: string) => Promise<void>;
  readonly beat: () => void;
};

/** Those below first: who asks again after an interruption finds the rest by its callers. */
export async function deleteFamily(family: readonly SessionRecord[], deleting: Deleting): Promise<void> {
  for (const { id } of [...family].reverse()) {
    if (await deleting.transcript.archive.beginDelete(id)) await finishDeleting(id, deleting);
  }
}

/** Begun anew first, for what others have taken a part of behind the beginning. */
export async function finishInterrupted(deleting: Deleting): Promise<void> {
  const { archive } = deleting.transcript;
  for (const { session, what } of await archive.unfinished()) {
    if (what === "deleting" && (await archive.beginDelete(session))) await finishDeleting(session, deleting);
  }
}

async function finishDeleting(session: string, { transcript, forget, beat }: Deleting): Promise<void> {
  while (!(await transcript.archive.deletePage(session, Date.now())).done) beat();
  await forget(session);
}
