import type { IdleSnapshot } from "./archive.ts";
import type { SessionRecord } from "./session.ts";
import type { Transcript } from "./transcript.ts";

/** Reads the state of a session. If the caller then finds no open run, the loops that are running here are over. */
export async function readIdleSnapshot(
  transcript: Pick<Transcript, "readLoops">,
  { id, lastActiveAtMs }: SessionRecord,
): Promise<IdleSnapshot> {
  const loops = await transcript.readLoops(id);
  const endedLoopIds = loops.filter(({ status }) => status === "running").map(({ loopId }) => loopId);
  return { lastActiveAtMs, endedLoopIds };
}
