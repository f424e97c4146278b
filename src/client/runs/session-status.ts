import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { EvaluationDetails } from "../../core/evaluation/evaluation-progress.ts";
import type { RunStatus } from "../../core/machine/status.ts";
import type { StatusCode } from "../../core/machine/status-code.ts";
import { isOpenStatus, STATUS_CODES } from "../../core/machine/status-code.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Usage } from "../../schema/message.ts";
import type { LoopStatus, Outcome } from "../../schema/record.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import { createUnknownSessionError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { readRefreshedSession } from "../read/abort-cut-off-loops.ts";
import { sumRecordedCost } from "../read/sum-recorded-cost.ts";
import { findNewestLoop } from "./find-newest-loop.ts";
import { filterAskingRuns } from "./list-waiting-calls.ts";
import {
  askStatus,
  describeRun,
  findRunsBelow,
  isOpen,
  mapWithConcurrency,
  type OpenRun,
} from "./open-runs.ts";
import { listPendingActivities, type PendingActivity } from "./pending-activity.ts";
import { KEYS } from "./run-labels.ts";
import { readTitle } from "./run-title.ts";
import { readRunTotals, sumLoopTotals } from "./run-totals.ts";

/** The status of a session, with the status of its open run or the totals of its ended one. */
export type SessionStatus = Partial<Omit<RunStatus, "session" | "status">> &
  Partial<EvaluationDetails> & {
    readonly session: string;
    /** Whether it runs, what it waits for, or how it ended. */
    readonly status: StatusCode;
    /** The source of the status: the run itself, the server's description of it, or the transcript alone. */
    readonly source: "run" | "server" | "transcript";
    /** Whether a run of the session is open. */
    readonly open: boolean;
    /** The run that the status is about; absent if only the transcript knows the session. */
    readonly runId?: string;
    /** When the run started. */
    readonly startedAt?: Date;
    /** When the run ended. */
    readonly closedAt?: Date;
    /** The tokens of the ended run's own requests, without those of sub-agents. Absent while a run is open. */
    readonly usage?: Usage;
    /** The milliseconds that the ended run's loops took, without the waits for prompts between them. */
    readonly durationMs?: number;
    /** The steps that the server waits for at present. */
    readonly pending: readonly PendingActivity[];
    /** The number of pending calls of agents below it; absent for none. */
    readonly waitingBelow?: number;
    /** Steps of runs below it that are being retried, or wait for their turn at a vendor; absent for none. */
    readonly retryingBelow?: readonly RetryingBelow[];
  };

/** A step of a sub-agent or of a job's part that is being retried, or waits for its turn at a vendor. */
export type RetryingBelow = PendingActivity & {
  readonly session: string;
  /** The names of the agents on the path down to it, its own last. */
  readonly path: readonly string[];
};

export async function readSessionStatus(link: ClientLink, session: string): Promise<SessionStatus> {
  const description = await describeRun(link, session);
  if (description === undefined) return readStatusFromTranscript(link, session);
  const title = await readTitle(link, session);
  const runDescription = {
    ...toRunDescription(description, session),
    ...omitUndefined({ title }),
    pending: await listPendingActivities(link, description),
  };
  if (!runDescription.open)
    return { ...runDescription, ...(await readEndedLoops(link, description, session)) };
  const below = findRunsBelow(link, description);
  const [ownStatus, waiting, runs] = await Promise.all([
    askStatus(link, session),
    below.then((found) => countWaitingBelow(link, found)),
    below,
  ]);
  const retrying = runs.flatMap((run) =>
    run.retrying.map((step) => ({ ...step, session: run.session, path: run.path })),
  );
  return {
    ...runDescription,
    ...(ownStatus === undefined ? {} : { ...ownStatus, source: "run" as const }),
    ...(waiting === 0 ? {} : { waitingBelow: waiting }),
    ...(retrying.length === 0 ? {} : { retryingBelow: retrying }),
  };
}

/**
 * Counts the pending calls below the session. A run that reports that it waits, but does not answer, counts as one.
 */
async function countWaitingBelow(link: ClientLink, runs: readonly OpenRun[]): Promise<number> {
  const counts = await mapWithConcurrency(filterAskingRuns(runs), async ({ session, status }) => {
    const reported = await askStatus(link, session);
    return reported?.approvals.length ?? (status === "needs-approval" ? 1 : 0);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

type RunDescription = Omit<SessionStatus, "pending">;

function toRunDescription(description: WorkflowExecutionDescription, session: string): RunDescription {
  const { typedSearchAttributes: attributes, startTime, closeTime, runId, status } = description;
  const open = isOpen(description);
  const agent = attributes.get(KEYS.agent);
  const model = attributes.get(KEYS.model);
  const title = attributes.get(KEYS.title);
  return {
    session,
    status: toStatus(status.name, attributes.get(KEYS.status)),
    source: "server",
    open,
    runId,
    startedAt: startTime,
    ...omitUndefined({ closedAt: closeTime, title, agent, model }),
    turns: attributes.get(KEYS.turns) ?? 0,
    costUsd: attributes.get(KEYS.costUsd) ?? null,
  };
}

/** Returns the run's own status, unless the run was ended from outside and could not update it. */
export function toStatus(
  temporal: WorkflowExecutionDescription["status"]["name"],
  attribute: string | undefined,
): StatusCode {
  const own = STATUS_CODES.find((status) => status === attribute);
  switch (temporal) {
    case "RUNNING":
    case "PAUSED":
    case "CONTINUED_AS_NEW":
      return own ?? "running";
    case "FAILED":
    case "TIMED_OUT":
      return "failed";
    case "TERMINATED":
    case "CANCELLED":
      return "stopped";
    default:
      return own === undefined || isOpenStatus(own) ? "completed" : own;
  }
}

async function readEndedLoops(
  link: ClientLink,
  description: WorkflowExecutionDescription,
  session: string,
): Promise<Pick<SessionStatus, "outcome" | "loopId" | "usage" | "durationMs">> {
  const transcript = await link.storage.openExistingTranscript();
  if (transcript !== undefined) await readRefreshedSession(link, transcript, session);
  const loops = (await transcript?.readLoops(session)) ?? [];
  const last = findNewestLoop(loops);
  const totals = await readRunTotals(link, description, transcript, loops);
  return { ...omitUndefined({ loopId: last?.loopId }), ...getOutcome(last), ...totals };
}

async function readStatusFromTranscript(link: ClientLink, session: string): Promise<SessionStatus> {
  const transcript = await link.storage.openExistingTranscript();
  const record = await transcript?.readSession(session);
  if (transcript === undefined || record === undefined) throw createUnknownSessionError(link, session);
  const loops = await transcript.readLoops(session);
  const last = findNewestLoop(loops);
  return {
    session,
    status: toLoopStatus(record.status, last?.outcome),
    source: "transcript",
    open: false,
    agent: record.agentName,
    model: record.model,
    turns: loops.reduce((sum, { turns = 0 }) => sum + turns, 0),
    costUsd: sumRecordedCost(loops),
    startedAt: new Date(record.createdAtMs),
    closedAt: new Date(record.lastActiveAtMs),
    ...(await sumLoopTotals(transcript, loops)),
    pending: [],
    ...omitUndefined({ title: record.title?.text, loopId: last?.loopId }),
    ...getOutcome(last),
  };
}

function getOutcome(last: LoopRecord | undefined): { outcome?: Outcome } {
  return omitUndefined({ outcome: last?.outcome });
}

const STATUS_OF_LOOP = {
  // No run is open: the loop was interrupted from outside.
  running: "stopped",
  completed: "completed",
  rejected: "stopped",
  aborted: "stopped",
  failed: "failed",
} as const satisfies Record<LoopStatus, StatusCode>;

export function toLoopStatus(status: LoopStatus, outcome: Outcome | undefined): StatusCode {
  switch (outcome?.type) {
    case "limit-reached":
    case "paused":
    case "handoff":
      return outcome.type;
    default:
      return STATUS_OF_LOOP[status];
  }
}
