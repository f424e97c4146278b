import { setTimeout as sleep } from "node:timers/promises";
import type { IdleSnapshot } from "../../store/transcript/archive.ts";
import { readIdleSnapshot } from "../../store/transcript/read-idle-snapshot.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { createUnknownSessionError, isRunNotFound, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { describeRun, isOpen } from "../runs/open-runs.ts";
import { stopSession } from "../runs/queue-message.ts";
import { findDescendants } from "./find-descendants.ts";

/** How far a deletion goes. */
export type DeleteOptions = {
  /** Also deletes Temporal's history of the runs, asynchronously. By default, the server's retention period applies. */
  readonly history?: boolean;
  /** Stops an open run first. By default, an open run is an error. */
  readonly stop?: boolean;
};

/** What was deleted. */
export type DeleteResult = {
  readonly session: string;
  /** The session and those of the agents below it. */
  readonly sessions: readonly string[];
  /** The number of runs whose history the server is to delete. */
  readonly histories: number;
};

/** A stopped run has ten seconds for its tools. */
const STOP_MS = 20_000;
const POLL_MS = 100;

/**
 * Deletes a session with all of its data, after those of the agents below it. To finish an interrupted deletion, repeat it.
 */
export async function deleteSession(
  link: ClientLink,
  session: string,
  { history = false, stop = false }: DeleteOptions = {},
): Promise<DeleteResult> {
  try {
    const transcript = await link.storage.openExistingTranscript();
    const sessionIds = transcript === undefined ? [] : await findSessionsToDelete(transcript, session);
    const sessions = [session, ...sessionIds];
    let stopped = false;
    for (const sessionId of sessions) stopped = (await endRun(link, sessionId, stop)) || stopped;
    const found = transcript === undefined ? 0 : await deleteAll(link, transcript, sessions);
    const histories = history ? await deleteHistories(link, sessions) : 0;
    // A run that was waiting for its first prompt has left no record.
    if (found === 0 && histories === 0 && !stopped) throw createUnknownSessionError(link, session);
    return { session, sessions, histories };
  } catch (error) {
    throw toHoldfastError(error, link, session);
  }
}

/** Includes sessions that are partly deleted. */
async function findSessionsToDelete(transcript: Transcript, session: string): Promise<readonly string[]> {
  const below = await findDescendants(transcript, session);
  const begun = (await transcript.archive.listUnfinished())
    .filter((one) => one.operation === "deleting" && one.session.startsWith(`${session}.`))
    .map((one) => one.session);
  return [...new Set([...below, ...begun])];
}

/** @returns Whether a run was open. */
async function endRun(link: ClientLink, session: string, stop: boolean): Promise<boolean> {
  const isAtWork = async () => {
    const run = await describeRun(link, session);
    return run !== undefined && isOpen(run);
  };
  if (!(await isAtWork())) return false;
  const command = `holdfast delete ${session} --stop`;
  if (!stop) {
    throw new HoldfastError(
      "session-busy",
      `A run of session ${session} is open. Wait until it ends, or stop it as part of the deletion: \`${command}\`.`,
      { session, command },
    );
  }
  await stopSession(link, session, "The session is being deleted");
  for (const until = Date.now() + STOP_MS; await isAtWork(); await sleep(POLL_MS)) {
    if (Date.now() < until) continue;
    throw new HoldfastError(
      "session-busy",
      `The run of session ${session} has not ended ${STOP_MS / 1000} s after the request to stop. ` +
        "Nothing was deleted. Check that a worker is running, and retry.",
      { session },
    );
  }
  return true;
}

/** Hides the first session first: if it has continued, nothing is deleted. Returns the number of deleted sessions. */
async function deleteAll(
  link: ClientLink,
  transcript: Transcript,
  sessions: readonly string[],
): Promise<number> {
  const idleSnapshots = new Map<string, IdleSnapshot>();
  for (const one of sessions) {
    const record = await transcript.readSession(one);
    if (record !== undefined) idleSnapshots.set(one, await readIdleSnapshot(transcript, record));
  }
  // Distinguishes runs that began after the first check from those that had ended by then.
  for (const one of sessions) await endRun(link, one, false);
  const [root, ...below] = sessions;
  const beginDelete = async (one: string) => {
    const outcome = await transcript.archive.beginDelete(one, idleSnapshots.get(one));
    if (outcome !== "continued") return outcome;
    throw new HoldfastError(
      "session-busy",
      `Session ${one} continued during the deletion, and was not deleted. Inspect it, and retry.`,
      { session: one },
    );
  };
  let found = 0;
  const finishDelete = async (one: string) => {
    while (!(await transcript.archive.deletePage(one, Date.now())).done);
    found += 1;
  };
  const hub = await link.storage.openHub();
  const exists = await beginDelete(root!);
  for (const one of below.reverse()) {
    if (await beginDelete(one)) await finishDelete(one);
    await hub.deleteSession(one);
  }
  if (exists) await finishDelete(root!);
  await hub.deleteSession(root!);
  return found;
}

async function deleteHistories(link: ClientLink, sessions: readonly string[]): Promise<number> {
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
      if (!isRunNotFound(error)) throw error;
    }
  }
  return runs.size;
}
