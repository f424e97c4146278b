import type { Transcript } from "../../store/transcript/transcript.ts";

/** The maximum number of agents that one agent may have started. */
const MAX_CHILDREN = 10_000;

/** Returns the sessions of the agents below a session, callers before callees. */
export async function findDescendants(transcript: Transcript, session: string): Promise<readonly string[]> {
  const found: string[] = [];
  let level: readonly string[] = [session];
  while (level.length > 0) {
    const below = await Promise.all(
      level.map((one) => transcript.findSessions({ limit: MAX_CHILDREN, spawnedBy: one })),
    );
    level = below
      .flat()
      .map(({ id }) => id)
      .filter((id) => !found.includes(id));
    found.push(...level);
  }
  return found;
}
