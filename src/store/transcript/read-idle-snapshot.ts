import type { IdleSnapshot } from "./archive.ts";
import type { SessionRecord } from "./session.ts";
import type { Transcript } from "./transcript.ts";

/** A session as it stands, for whoever makes sure afterwards that no run of it is open: what runs now is over then. */
export async function readIdleSnapshot(
  transcript: Pick<Transcript, "readLoops">,
  { id, lastActiveAtMs }: SessionRecord,
): Promise<IdleSnapshot> {
  const loops = await transcript.readLoops(id);
  const endedLoopIds = loops.filter(({ status }) => status === "running").map(({ loopId }) => loopId);
  return { lastActiveAtMs, over: endedLoopIds };
}
