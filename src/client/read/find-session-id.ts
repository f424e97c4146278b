import type { WorkflowExecutionInfo } from "@temporalio/client";
import { AGENT_WORKFLOW, EVALUATION_WORKFLOW, isPartWorkflow } from "../../workflows/messages.ts";
import { createUnknownJobError, createUnknownSessionError, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { resolveSessionId } from "../resolve-session-id.ts";
import { describeRun } from "../runs/open-runs.ts";
import { JOB_TYPES, listJobs } from "./list-jobs.ts";
import { quoteValue } from "./sessions-on-server.ts";

/** The reference to the session or job that was active last. A session of this id comes first. */
const LAST = "last";

/** More ids than an error lists, so that it can say that there are more. */
const MAX_MATCHES = 6;
const PAGE = 50;

/** Whose ids a reference may mean. Commands for sessions accept jobs, too: a job has a status and can be stopped. */
type Kind = "session" | "job";

/**
 * Returns the id that a reference means: the id itself, its beginning if no other id begins with it, or `last`.
 *
 * @throws HoldfastError With the code `session-unknown` for no match, and `input-invalid` for several.
 */
export async function findId(link: ClientLink, reference: string, kind: Kind): Promise<string> {
  resolveSessionId(reference);
  try {
    if (await isId(link, reference, kind)) return reference;
    const matches =
      reference === LAST ? await findNewest(link, kind) : await findMatches(link, reference, kind);
    const [match, ...others] = matches;
    if (match === undefined) throw createUnknownError(link, reference, kind);
    if (others.length > 0) throw createAmbiguousError(reference, matches, kind);
    return match;
  } catch (error) {
    throw toHoldfastError(error, link, reference);
  }
}

async function isId(link: ClientLink, reference: string, kind: Kind): Promise<boolean> {
  if (kind === "session") {
    const transcript = await link.storage.openExistingTranscript();
    if ((await transcript?.readSession(reference)) !== undefined) return true;
  }
  return (await describeRun(link, reference)) !== undefined;
}

async function findNewest(link: ClientLink, kind: Kind): Promise<readonly string[]> {
  if (kind === "job") return (await listJobs(link, { limit: 1 })).map(({ job }) => job);
  const transcript = await link.storage.openExistingTranscript();
  const [stored] = (await transcript?.archive.list({ spawnedBy: null }, { limit: 1 })) ?? [];
  const started = await findNewestRun(link);
  if (started !== undefined && started.startTime.getTime() > (stored?.lastActiveAtMs ?? 0))
    return [started.workflowId];
  return stored === undefined ? [] : [stored.id];
}

/** Finds the newest open run on the task queue: the transcript has its session only when a worker has opened it. */
async function findNewestRun(link: ClientLink): Promise<WorkflowExecutionInfo | undefined> {
  const types = [AGENT_WORKFLOW, EVALUATION_WORKFLOW].map(quoteValue).join(", ");
  const query = `WorkflowType IN (${types}) AND TaskQueue = ${quoteValue(link.taskQueue)} AND ExecutionStatus = "Running"`;
  for await (const run of link.client.workflow.list({ query }))
    if ((run.parentExecution ?? undefined) === undefined) return run;
  return undefined;
}

/** Finds the ids that begin with a text. An id that continues another one with a dot belongs to that session or job. */
async function findMatches(link: ClientLink, prefix: string, kind: Kind): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const id of listIds(link, prefix, kind)) {
    found.add(id);
    if (removeParts(found).length === MAX_MATCHES) break;
  }
  return removeParts(found);
}

function removeParts(ids: ReadonlySet<string>): readonly string[] {
  const all = [...ids];
  return all.filter((id) => !all.some((other) => id.startsWith(`${other}.`))).sort();
}

async function* listIds(link: ClientLink, prefix: string, kind: Kind): AsyncGenerator<string, void, void> {
  const root = prefix.split(".", 1)[0] ?? prefix;
  for await (const id of listAllIds(link, root, kind)) if (beginsWith(id, prefix)) yield id;
}

/** Compares the parts between dots: lists display the beginning of the first part, and the others whole. */
function beginsWith(id: string, prefix: string): boolean {
  const parts = id.split(".");
  return prefix.split(".").every((part, index) => parts[index]?.startsWith(part) === true);
}

async function* listAllIds(link: ClientLink, prefix: string, kind: Kind): AsyncGenerator<string, void, void> {
  if (kind === "session") yield* listStoredIds(link, prefix);
  const types = kind === "job" ? JOB_TYPES : [AGENT_WORKFLOW, EVALUATION_WORKFLOW, ...JOB_TYPES];
  const query = `WorkflowType IN (${types.map(quoteValue).join(", ")}) AND WorkflowId STARTS_WITH ${quoteValue(prefix)}`;
  for await (const { workflowId } of link.client.workflow.list({ query })) {
    if (!isPartWorkflow(workflowId)) yield workflowId;
  }
}

async function* listStoredIds(link: ClientLink, idPrefix: string): AsyncGenerator<string, void, void> {
  const transcript = await link.storage.openExistingTranscript();
  for (let after: { lastActiveAtMs: number; id: string } | undefined; ; ) {
    const rows = (await transcript?.archive.list({ idPrefix }, { limit: PAGE, after })) ?? [];
    for (const { id, lastActiveAtMs } of rows) {
      yield id;
      after = { lastActiveAtMs, id };
    }
    if (rows.length < PAGE) return;
  }
}

function createUnknownError(link: ClientLink, reference: string, kind: Kind): HoldfastError {
  return kind === "job" ? createUnknownJobError(link, reference) : createUnknownSessionError(link, reference);
}

function createAmbiguousError(reference: string, matches: readonly string[], kind: Kind): HoldfastError {
  const listed = matches.slice(0, MAX_MATCHES - 1).join(", ");
  const more = matches.length === MAX_MATCHES ? ", and more" : "";
  return new HoldfastError(
    "input-invalid",
    `"${reference}" is the beginning of the ids of several ${kind}s: ${listed}${more}. Give more characters of the id.`,
    { problems: [`"${reference}" is not unique`] },
  );
}
