import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { describeRun, isOpen } from "../runs/open-runs.ts";

/**
 * Reads a session, and marks interrupted loops as aborted: those that the record lists as running although the server
 * reports that their run has ended. If the server cannot be reached or no longer has the run, or the record cannot be
 * written, the record stays unchanged: reading requires neither.
 */
export async function readRefreshedSession(
  link: ClientLink,
  transcript: Transcript,
  session: string,
): Promise<SessionRecord | undefined> {
  const record = await transcript.readSession(session);
  if (record?.status !== "running") return record;
  return (await abortCutOffLoops(link, transcript, session)) ? await transcript.readSession(session) : record;
}

async function abortCutOffLoops(link: ClientLink, transcript: Transcript, session: string): Promise<boolean> {
  // Read before the server is asked, so that a loop that began since is not among these.
  const running = (await transcript.readLoops(session)).filter(({ status }) => status === "running");
  if (running.length === 0) return false;
  const run = await describeRun(link, session).catch(() => undefined);
  if (run === undefined || isOpen(run) || run.closeTime === undefined) return false;
  const loopIds = running.map(({ loopId }) => loopId);
  return await transcript.abortLoops(session, loopIds, run.closeTime.getTime()).then(
    () => true,
    () => false,
  );
}
