import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { EvaluationStatus } from "../../core/evaluation/progress.ts";
import type { Status, StatusWord } from "../../core/machine/status.ts";
import type { LoopStatus, Outcome } from "../../schema/record.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { Link } from "../connection/link.ts";
import { unknownSession } from "../failures.ts";
import { sessionSeen } from "../read/cut-off.ts";
import { recordedCost } from "../read/recorded-cost.ts";
import { KEYS } from "./labels.ts";
import { newestLoop } from "./newest-loop.ts";
import { type PendingActivity, pendingActivities } from "./pending-activity.ts";
import { askStatus, describeRun, inTurns, isOpen, type OpenRun, runsBelow } from "./tree.ts";
import { asking } from "./waiting-calls.ts";

export type SessionStatus = Partial<Omit<Status, "session" | "status">> &
  Partial<Pick<EvaluationStatus, "strategy" | "branches" | "judge" | "decision">> & {
    readonly session: string;
    readonly status: StatusWord;
    /** Who said so: the run itself, what the server shows of it, or the transcript alone. */
    readonly source: "run" | "server" | "transcript";
    /** A run of the session is open. */
    readonly open: boolean;
    readonly runId?: string;
    readonly startedAt?: Date;
    readonly closedAt?: Date;
    readonly pending: readonly PendingActivity[];
    /** Calls of agents below it that wait for a person; absent for none. */
    readonly waitingBelow?: number;
    /** Steps of runs below it that are tried again, or wait for their turn at a vendor; absent for none. */
    readonly retryingBelow?: readonly RetryingBelow[];
  };

/** A step of a sub-agent, or of a job's part, that is tried again or waits for its turn at a vendor. */
type RetryingBelow = PendingActivity & {
  readonly session: string;
  /** Names of the agents on the way down to it, its own last. */
  readonly path: readonly string[];
};

export async function sessionStatus(link: Link, session: string): Promise<SessionStatus> {
  const description = await describeRun(link, session);
  if (description === undefined) return fromTranscript(link, session);
  const shown = { ...shownBy(description, session), pending: await pendingActivities(link, description) };
  if (!shown.open) return { ...shown, ...(await lastLoop(link, session)) };
  const below = runsBelow(link, description);
  const [told, waiting, runs] = await Promise.all([
    askStatus(link, session),
    below.then((found) => waitingBelow(link, found)),
    below,
  ]);
  const retrying = runs.flatMap((run) =>
    run.retrying.map((step) => ({ ...step, session: run.session, path: run.path })),
  );
  return {
    ...shown,
    ...(told === undefined ? {} : { ...told, source: "run" as const }),
    ...(waiting === 0 ? {} : { waitingBelow: waiting }),
    ...(retrying.length === 0 ? {} : { retryingBelow: retrying }),
  };
}

/**
 * Calls below it that wait for a person. A run that has said that it waits, and does not answer now, counts for one.
 */
async function waitingBelow(link: Link, runs: readonly OpenRun[]): Promise<number> {
  const counts = await inTurns(asking(runs), async ({ session, status }) => {
    const told = await askStatus(link, session);
    return told?.approvals.length ?? (status === "needs-approval" ? 1 : 0);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

type Shown = Omit<SessionStatus, "pending">;

function shownBy(description: WorkflowExecutionDescription, session: string): Shown {
  const { typedSearchAttributes: attributes, startTime, closeTime, runId, status } = description;
  const open = isOpen(description);
  const agent = attributes.get(KEYS.agent);
  const model = attributes.get(KEYS.model);
  return {
    session,
    status: statusWordOf(status.name, attributes.get(KEYS.status)),
    source: "server",
    open,
    runId,
    startedAt: startTime,
    ...(closeTime === undefined ? {} : { closedAt: closeTime }),
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    turns: attributes.get(KEYS.turns) ?? 0,
    costUsd: attributes.get(KEYS.costUsd) ?? null,
  };
}

export const OPEN_WORDS = ["running", "waiting", "needs-approval", "stopping"] as const;
const WORDS = [...OPEN_WORDS, "completed", "limit-reached", "failed", "stopped"] as const;

/** The run's own word, unless it was ended from outside and could not change it any more. */
export function statusWordOf(
  temporal: WorkflowExecutionDescription["status"]["name"],
  attribute: string | undefined,
): StatusWord {
  const own = WORDS.find((word) => word === attribute);
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
      return own === undefined || OPEN_WORDS.some((word) => word === own) ? "completed" : own;
  }
}

async function lastLoop(link: Link, session: string): Promise<{ outcome?: Outcome; loopId?: string }> {
  const transcript = await link.storage.existing();
  if (transcript !== undefined) await sessionSeen(link, transcript, session);
  const loops = (await transcript?.loops(session)) ?? [];
  const last = newestLoop(loops);
  return { ...(last === undefined ? {} : { loopId: last.loopId }), ...outcomeOf(last) };
}

async function fromTranscript(link: Link, session: string): Promise<SessionStatus> {
  const transcript = await link.storage.existing();
  const record = await transcript?.session(session);
  if (transcript === undefined || record === undefined) throw unknownSession(link, session);
  const loops = await transcript.loops(session);
  const last = newestLoop(loops);
  return {
    session,
    status: statusWordOfLoop(record.status, last?.outcome),
    source: "transcript",
    open: false,
    agent: record.agentName,
    model: record.model,
    turns: loops.reduce((sum, { turns = 0 }) => sum + turns, 0),
    costUsd: recordedCost(loops),
    startedAt: new Date(record.createdAtMs),
    closedAt: new Date(record.lastActiveAtMs),
    pending: [],
    ...(last === undefined ? {} : { loopId: last.loopId }),
    ...outcomeOf(last),
  };
}

function outcomeOf(last: LoopRecord | undefined): { outcome?: Outcome } {
  return last?.outcome === undefined ? {} : { outcome: last.outcome };
}

const WORD_OF_LOOP = {
  // No run of it is open: it was cut off from outside.
  running: "stopped",
  completed: "completed",
  rejected: "stopped",
  aborted: "stopped",
  failed: "failed",
} as const satisfies Record<LoopStatus, StatusWord>;

export function statusWordOfLoop(status: LoopStatus, outcome: Outcome | undefined): StatusWord {
  return outcome?.type === "limit-reached" ? "limit-reached" : WORD_OF_LOOP[status];
}
