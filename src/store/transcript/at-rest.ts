import type { SeenAtRest } from "./archive.ts";
import type { SessionRecord } from "./session.ts";
import type { Transcript } from "./transcript.ts";

/** A session as it stands, for whoever makes sure afterwards that no run of it is open: what runs now is over then. */
export async function seenAtRest(
  transcript: Pick<Transcript, "loops">,
  { id, lastActiveAtMs }: SessionRecord,
): Promise<SeenAtRest> {
  const loops = await transcript.loops(id);
  const over = loops.filter(({ status }) => status === "running").map(({ loopId }) => loopId);
  return { lastActiveAtMs, over };
}
