import type { SessionRecord } from "../../store/transcript/session.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { describeRun, isOpen } from "../runs/open-runs.ts";

/**
 * A session, as it is looked at. Loops that its record shows at work, and whose run the server knows to be over, were cut
 * off: the record says so from now on. Where the server cannot be asked, or has forgotten the run, or nothing can be
 * written, it stays as it is: a look needs neither.
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
  // Read before the server is asked: a loop that has begun since is not among these.
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
