import { Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/common";
import { buildEmptyCounts, countsBytes, judgeSession } from "../../core/machine/retention.ts";
import type {
  RetentionCursor,
  RetentionDigest,
  RetentionInput,
} from "../../core/machine/retention-digest.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Dependencies } from "../dependencies.ts";
import { toFailure } from "../step/failure.ts";
import { deleteFamily, findDeletableFamily, finishInterrupted } from "./session-family.ts";

/** The most sessions that one activity examines. */
const PAGE_SIZE = 100;
/** After this time the activity leaves the other deletions to the next one. */
const PAGE_MS = 60_000;
const SWEEP_SIZE = 500;

/** Applies one page of a policy. A repetition finds what is left. */
export async function applyRetention(
  input: RetentionInput,
  dependencies: Dependencies,
): Promise<RetentionDigest> {
  const { policy, dryRun } = input;
  const { transcript, hub } = dependencies;
  const { client } = Context.current();
  const beat = () => Context.current().heartbeat();
  try {
    const deleting = { transcript, deleteLiveOutput: hub.deleteSession.bind(hub), beat };
    const nowMs = Date.now();
    const started = performance.now();
    const needed = await listNeededIds(client);
    if (!dryRun) await finishInterrupted(deleting);
    let { after, counted } = input.cursor ?? { counted: buildEmptyCounts(policy) };
    const rows = await transcript.archive.list({ spawnedBy: null }, { limit: PAGE_SIZE, after });
    const sessions: { session: string; reason: string }[] = [];
    let examined = 0;
    let spared = 0;
    for (const row of rows) {
      beat();
      const bytes = countsBytes(policy) ? await transcript.archive.countBytes(row.id) : 0;
      const verdict = judgeSession(policy, counted, { ...row, bytes }, nowMs);
      counted = verdict.counted;
      after = { lastActiveAtMs: row.lastActiveAtMs, id: row.id };
      examined += 1;
      if (verdict.reason === undefined) continue;
      const family = await findDeletableFamily(row, transcript, (session) =>
        isNeeded(session, needed, client),
      );
      const goes = family !== undefined && (dryRun || (await deleteFamily(family, deleting)));
      if (goes) sessions.push({ session: row.id, reason: verdict.reason });
      else spared += 1;
      if (performance.now() - started > PAGE_MS) break;
    }
    const isLast = examined === rows.length && rows.length < PAGE_SIZE;
    const cursor: RetentionCursor = { ...omitUndefined({ after }), counted };
    const texts = isLast && !dryRun ? await deleteUnusedTexts(transcript, nowMs, beat) : 0;
    const digest = { examined, deleted: sessions.length, retained: spared, texts, sessions };
    return isLast ? digest : { ...digest, cursor };
  } catch (error) {
    throw toFailure(error);
  }
}

/**
 * Lists the ids of open workflows, and of those that a schedule wakes: an id that begins with one of them is a part of
 * it.
 */
async function listNeededIds(client: Client): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query: 'ExecutionStatus = "Running"' })) {
    ids.add(workflowId);
  }
  for await (const { scheduleId } of client.schedule.list()) {
    const { action } = await client.schedule.getHandle(scheduleId).describe();
    const [request] = (action.args ?? []) as readonly ({ readonly job?: unknown } | undefined)[];
    if (typeof request?.job === "string") ids.add(request.job);
  }
  return ids;
}

async function isNeeded(id: string, needed: ReadonlySet<string>, client: Client): Promise<boolean> {
  if (listAncestorIds(id).some((name) => needed.has(name))) return true;
  // A run that has just begun is not in the list yet.
  try {
    const { status } = await client.workflow.getHandle(id).describe();
    return status.name === "RUNNING" || status.name === "PAUSED";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Lists a session's id and the ids of the job and the agents above it. */
function listAncestorIds(id: string): readonly string[] {
  const parts = id.split(".");
  return parts.map((_, index) => parts.slice(0, index + 1).join("."));
}

async function deleteUnusedTexts(transcript: Transcript, atMs: number, beat: () => void): Promise<number> {
  let swept = 0;
  for (;;) {
    beat();
    const some = await transcript.archive.sweepTexts(atMs, SWEEP_SIZE);
    swept += some;
    if (some < SWEEP_SIZE) return swept;
  }
}
