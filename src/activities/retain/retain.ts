import { Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/common";
import type { RetainCursor, RetainDigest, RetainInput } from "../../core/machine/digest-retention.ts";
import { countsBytes, judge, nothingCounted } from "../../core/machine/retention.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Dependencies } from "../dependencies.ts";
import { asFailure } from "../step/failure.ts";
import { deleteFamily, familyToGo, finishInterrupted } from "./whole-family.ts";

/** Sessions that one activity looks at. */
const PAGE = 100;
/** Of those that it deletes, after this time it goes on in the next one. */
const PAGE_MS = 60_000;
const SWEEP = 500;

/** One page of a policy's work. Asked again, it finds what is left. */
export async function retain(input: RetainInput, dependencies: Dependencies): Promise<RetainDigest> {
  const { policy, dryRun } = input;
  const { transcript, hub } = dependencies;
  const { client } = Context.current();
  const beat = () => Context.current().heartbeat();
  try {
    const deleting = { transcript, forget: hub.forget.bind(hub), beat };
    const nowMs = Date.now();
    const started = performance.now();
    const needed = await neededNow(client);
    if (!dryRun) await finishInterrupted(deleting);
    let { behind, counted } = input.cursor ?? { counted: nothingCounted(policy) };
    const rows = await transcript.archive.list({ spawnedBy: null }, { limit: PAGE, behind });
    const sessions: { session: string; why: string }[] = [];
    let looked = 0;
    let spared = 0;
    for (const row of rows) {
      beat();
      const bytes = countsBytes(policy) ? await transcript.archive.bytesOf(row.id) : 0;
      const verdict = judge(policy, counted, { ...row, bytes }, nowMs);
      counted = verdict.counted;
      behind = { lastActiveAtMs: row.lastActiveAtMs, id: row.id };
      looked += 1;
      if (verdict.why === undefined) continue;
      const family = await familyToGo(row, transcript, (session) => isNeeded(session, needed, client));
      const goes = family !== undefined && (dryRun || (await deleteFamily(family, deleting)));
      if (goes) sessions.push({ session: row.id, why: verdict.why });
      else spared += 1;
      if (performance.now() - started > PAGE_MS) break;
    }
    const isLast = looked === rows.length && rows.length < PAGE;
    const cursor: RetainCursor = { ...(behind === undefined ? {} : { behind }), counted };
    const texts = isLast && !dryRun ? await sweep(transcript, nowMs, beat) : 0;
    const digest = { looked, deleted: sessions.length, spared, texts, sessions };
    return isLast ? digest : { ...digest, cursor };
  } catch (error) {
    throw asFailure(error);
  }
}

/** Ids of open workflows, and of those that a schedule wakes: what begins with one of them is a part of it. */
async function neededNow(client: Client): Promise<ReadonlySet<string>> {
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
  if (namesOf(id).some((name) => needed.has(name))) return true;
  // What has just begun is not in the list yet.
  try {
    const { status } = await client.workflow.getHandle(id).describe();
    return status.name === "RUNNING" || status.name === "PAUSED";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** A session's id, and those of the job and the agents above it. */
function namesOf(id: string): readonly string[] {
  const parts = id.split(".");
  return parts.map((_, index) => parts.slice(0, index + 1).join("."));
}

async function sweep(transcript: Transcript, atMs: number, beat: () => void): Promise<number> {
  let swept = 0;
  for (;;) {
    beat();
    const some = await transcript.archive.sweepTexts(atMs, SWEEP);
    swept += some;
    if (some < SWEEP) return swept;
  }
}
