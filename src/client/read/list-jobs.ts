import type { WorkflowExecutionInfo } from "@temporalio/client";
import type { Cost } from "../../core/budget/usage.ts";
import type { StatusCode } from "../../core/machine/status-code.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { KEYS } from "../runs/run-labels.ts";
import { toStatus } from "../runs/session-status.ts";
import { WORKFLOW_OF_MODE } from "../runs/workflow-of-mode.ts";
import { quoteValue } from "./sessions-on-server.ts";

/** Which jobs to list. */
export type ListJobsOptions = {
  /** Only jobs with this status. */
  readonly status?: StatusCode;
  /** The most jobs; 50 by default. */
  readonly limit?: number;
};

/** A job in a list. The server deletes it after its retention period; the sessions of its parts stay. */
export type JobSummary = {
  /** The job's id. */
  readonly job: string;
  /** How its agents work together. */
  readonly mode: "pipeline" | "fan-out" | "autonomous" | "supervisor";
  /** Whether it runs, or how it ended. */
  readonly status: StatusCode;
  /** The first words of its task, or what the user has called it. Absent where Temporal displays no titles. */
  readonly title?: string;
  /** When its newest run started. */
  readonly startedAt: Date;
  /** Absent while it is open. */
  readonly closedAt?: Date;
  /** The turns of its parts, as far as it has reported them. */
  readonly turns?: number;
  /** In US dollars, as `turns`. `null` if the cost is unknown. */
  readonly costUsd: Cost;
};

const LIMIT = 50;
const MODES = new Map(
  Object.entries(WORKFLOW_OF_MODE).map(([mode, type]) => [type as string, mode as JobSummary["mode"]]),
);

/** The workflow types of jobs, as a query of the server compares them. */
export const JOB_TYPES: readonly string[] = [...MODES.keys()];

/** Lists jobs, the one that was started last first. Each job once, with its newest run. */
export async function listJobs(
  link: ClientLink,
  { status, limit = LIMIT }: ListJobsOptions = {},
): Promise<readonly JobSummary[]> {
  const jobs = new Map<string, JobSummary>();
  const query = `WorkflowType IN (${JOB_TYPES.map(quoteValue).join(", ")})`;
  try {
    for await (const info of link.client.workflow.list({ query })) {
      if (jobs.has(info.workflowId)) continue;
      jobs.set(info.workflowId, toJobSummary(info));
      if ([...jobs.values()].filter((job) => isWanted(job, status)).length === limit) break;
    }
  } catch (error) {
    throw toHoldfastError(error, link, "");
  }
  return [...jobs.values()].filter((job) => isWanted(job, status));
}

function isWanted(job: JobSummary, status: StatusCode | undefined): boolean {
  return status === undefined || job.status === status;
}

function toJobSummary({
  workflowId,
  type,
  status,
  typedSearchAttributes: attributes,
  startTime,
  closeTime,
}: WorkflowExecutionInfo): JobSummary {
  const title = attributes.get(KEYS.title);
  const turns = attributes.get(KEYS.turns);
  return {
    job: workflowId,
    mode: MODES.get(type) ?? "pipeline",
    status: toStatus(status.name, attributes.get(KEYS.status)),
    ...omitUndefined({ title, closedAt: closeTime, turns }),
    startedAt: startTime,
    costUsd: attributes.get(KEYS.costUsd) ?? null,
  };
}
