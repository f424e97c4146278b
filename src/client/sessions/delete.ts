import { setTimeout as sleep } from "node:timers/promises";
import type { SeenAtRest } from "../../store/transcript/archive.ts";
import { seenAtRest } from "../../store/transcript/at-rest.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { isGone, translated, unknownSession } from "../failures.ts";
import { stopSession } from "../runs/send.ts";
import { describeRun, isOpen } from "../runs/tree.ts";
import { descendants } from "./family.ts";

export type DeleteOptions = {
  /** Temporal's history of its runs goes too, when the server gets to it; else it goes when the server's retention is over. */
  readonly history?: boolean;
  /** A run that is open is stopped first; refused unless said. */
  readonly stop?: boolean;
};

export type Deleted = {
  readonly session: string;
  /** The session and those of agents below it. */
  readonly sessions: readonly string[];
  /** Runs whose history the server has been told to delete. */
  readonly histories: number;
};

/** A stopped run has ten seconds for its tools. */
const STOP_MS = 20_000;
const LOOK_AGAIN_MS = 100;

/**
 * Deletes a session with all that it has, those of agents below it first. What was interrupted is finished by asking again.
 */
export async function deleteSession(
  link: Link,
  session: string,
  { history = false, stop = false }: DeleteOptions = {},
): Promise<Deleted> {
  try {
    const transcript = await link.storage.existing();
    const family = transcript === undefined ? [] : await familyOf(transcript, session);
    const sessions = [session, ...family];
    let stopped = false;
    for (const one of sessions) stopped = (await endRun(link, one, stop)) || stopped;
    const found = transcript === undefined ? 0 : await deleteAll(link, transcript, sessions);
    const histories = history ? await deleteHistories(link, sessions) : 0;
    // A run that was still waiting for its first prompt has left no record.
    if (found === 0 && histories === 0 && !stopped) throw unknownSession(link, session);
    return { session, sessions, histories };
  } catch (error) {
    throw translated(error, link, session);
  }
}

/** Those of which a part is gone already count too. */
async function familyOf(transcript: Transcript, session: string): Promise<readonly string[]> {
  const below = await descendants(transcript, session);
  const begun = (await transcript.archive.unfinished())
    .filter((one) => one.what === "deleting" && one.session.startsWith(`${session}.`))
    .map((one) => one.session);
  return [...new Set([...below, ...begun])];
}

/** @returns Whether a run was open. */
async function endRun(link: Link, session: string, stop: boolean): Promise<boolean> {
  const isAtWork = async () => {
    const run = await describeRun(link, session);
    return run !== undefined && isOpen(run);
  };
  if (!(await isAtWork())) return false;
  const command = `holdfast delete ${session} --stop`;
  if (!stop) {
    throw new HoldfastError(
      "session-busy",
      `A run of session ${session} is open. Wait for its end, or have it stopped: \`${command}\`.`,
      { session, command },
    );
  }
  await stopSession(link, session, "The session is being deleted");
  for (const until = Date.now() + STOP_MS; await isAtWork(); await sleep(LOOK_AGAIN_MS)) {
    if (Date.now() < until) continue;
    throw new HoldfastError(
      "session-busy",
      `The run of session ${session} has not ended ${STOP_MS / 1000} s after it was told to stop: is a worker there? ` +
        "Nothing was deleted.",
      { session },
    );
  }
  return true;
}

/** The first one is hidden first: if it has gone on, nothing is deleted. Gives how many there were. */
async function deleteAll(link: Link, transcript: Transcript, sessions: readonly string[]): Promise<number> {
  const seen = new Map<string, SeenAtRest>();
  for (const one of sessions) {
    const record = await transcript.session(one);
    if (record !== undefined) seen.set(one, await seenAtRest(transcript, record));
  }
  // What has begun since the first look is told apart from what was over by then.
  for (const one of sessions) await endRun(link, one, false);
  const [root, ...below] = sessions;
  const begin = async (one: string) => {
    const begun = await transcript.archive.beginDelete(one, seen.get(one));
    if (begun !== "gone-on") return begun;
    throw new HoldfastError(
      "session-busy",
      `Session ${one} has gone on while it was to be deleted, and is left as it is. Look at it, and ask again.`,
      { session: one },
    );
  };
  let found = 0;
  const finish = async (one: string) => {
    while (!(await transcript.archive.deletePage(one, Date.now())).done);
    found += 1;
  };
  const isThere = await begin(root!);
  for (const one of below.reverse()) {
    if (await begin(one)) await finish(one);
    await link.storage.hub().forget(one);
  }
  if (isThere) await finish(root!);
  await link.storage.hub().forget(root!);
  return found;
}

async function deleteHistories(link: Link, sessions: readonly string[]): Promise<number> {
  const { client, namespace } = link;
  const runs = new Map<string, string>();
  for (const session of sessions) {
    const newest = await describeRun(link, session);
    if (newest !== undefined) runs.set(newest.runId, session);
    const quoted = session.replaceAll('"', '\\"');
    for await (const { runId, workflowId } of client.workflow.list({ query: `WorkflowId = "${quoted}"` })) {
      runs.set(runId, workflowId);
    }
  }
  for (const [runId, workflowId] of runs) {
    try {
      await client.workflowService.deleteWorkflowExecution({
        namespace,
        workflowExecution: { workflowId, runId },
      });
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  return runs.size;
}
