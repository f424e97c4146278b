import { randomUUID } from "node:crypto";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { describeIssues, formatExpected } from "../../schema/check.ts";
import { WorkMode, type WorkModeInput } from "../../schema/mode.ts";
import type { PipelineRequest } from "../../workflows/job-input.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { resolveSessionId } from "../resolve-session-id.ts";
import { buildJobRequest, type JobRequest, type JobWorkMode } from "./build-job-request.ts";
import { buildRunOptions } from "./build-run-options.ts";
import { checkSearchAttributes } from "./check-search-attributes.ts";
import { type StartResult, startRun } from "./start-run.ts";

export type StartJobOptions = {
  readonly mode: WorkModeInput;
  /** What is to be done. May be left out where the mode itself says it all: a fan-out with `tasks`. */
  readonly task?: string;
  /** The job's id, and the beginning of the ids of its sessions; a new one unless said. */
  readonly job?: string;
};

export type StartedJob = { readonly job: string; readonly runId: string };

/** The longest of what is put behind it: `.` and the name of a part. */
const MAX_JOB_ID_BYTES = 120;

/** All that can be known to be wrong is found before anything is written or started. */
export async function startJob(link: ClientLink, options: StartJobOptions): Promise<StartedJob> {
  const mode = parseMode(options.mode);
  const job = resolveJobId(options.job);
  if (mode.type === "interactive") return startInteractive(link, mode, job, options.task);
  await checkSearchAttributes(link);
  const request = await buildJobRequest(link, mode, options.task);
  return launchJob(link, mode.type, job, request, {
    agents: formatAgentNames(mode),
    task: options.task,
    again: false,
  });
}

export type JobLaunch = {
  readonly agents: string;
  readonly task?: string | undefined;
  /** The job was there before: what it has done stays. */
  readonly again: boolean;
};

/** Starts the workflow of a mode. */
export async function launchJob(
  link: ClientLink,
  type: JobWorkMode["type"],
  job: string,
  request: JobRequest,
  { agents, task, again: isResume }: JobLaunch,
): Promise<StartedJob> {
  try {
    const handle = await link.client.workflow.start(WORKFLOW_OF_MODE[type], {
      ...buildRunOptions(link, job, { prompt: task, summary: `${type}: ${agents}` }),
      workflowIdReusePolicy: isResume ? "ALLOW_DUPLICATE" : "REJECT_DUPLICATE",
      workflowIdConflictPolicy: "FAIL",
      args: [request],
    });
    return { job, runId: handle.firstExecutionRunId };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError)
      throw isResume ? createJobRunningError(job, error) : createJobTakenError(job, error);
    throw toHoldfastError(error, link, job);
  }
}

/** The workflow types, as they are exported to the bundle. */
export const WORKFLOW_OF_MODE = {
  autonomous: "autonomous",
  pipeline: "pipeline",
  "fan-out": "fanOut",
  supervisor: "supervisor",
} as const satisfies Record<JobWorkMode["type"], string>;

async function startInteractive(
  link: ClientLink,
  { agent, idleTimeoutMs }: Extract<WorkMode, { type: "interactive" }>,
  job: string,
  prompt: string | undefined,
): Promise<StartedJob> {
  const started: StartResult = await startRun(link, {
    agent,
    session: job,
    mode: "interactive",
    idleTimeoutMs,
    ...(prompt === undefined ? {} : { prompt }),
  });
  return { job: started.session, runId: started.runId };
}

export function parseMode(input: WorkModeInput): WorkMode {
  const parsed = WorkMode.safeParse(input, { error: formatExpected });
  if (parsed.success) return parsed.data;
  const modeName = WorkMode.options.find(({ shape }) => shape.type.value === input?.type);
  const problems = describeIssues(parsed.error, modeName ?? WorkMode, "mode");
  throw new HoldfastError(
    "definition-invalid",
    `The mode is not valid:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`,
    { problems },
  );
}

export function resolveJobId(requestedId: string | undefined): string {
  const job = resolveSessionId(requestedId ?? randomUUID());
  if (Buffer.byteLength(job) <= MAX_JOB_ID_BYTES) return job;
  const problem = `it has more than ${MAX_JOB_ID_BYTES} bytes, and the ids of its sessions begin with it`;
  throw new HoldfastError("input-invalid", `"${job.slice(0, 80)}" cannot be a job's id: ${problem}.`, {
    problems: [problem],
  });
}

/** The names of a mode's agents, as labels show them. */
function formatAgentNames(mode: WorkMode): string {
  switch (mode.type) {
    case "interactive":
    case "autonomous":
      return mode.agent.name;
    case "pipeline":
      return mode.stages.map(({ agent }) => agent.name).join(", ");
    case "fan-out":
      return mode.agents.map(({ name }) => name).join(", ");
    case "supervisor":
      return [mode.lead.name, ...mode.agents.map(({ name }) => name)].join(", ");
  }
}

function createJobRunningError(job: string, cause: unknown): HoldfastError {
  const command = `holdfast job stop ${job}`;
  return new HoldfastError(
    "session-busy",
    `Job ${job} is still at work: wait for its end, or stop it with \`${command}\`.`,
    { session: job, command, cause },
  );
}

function createJobTakenError(job: string, cause: unknown): HoldfastError {
  const command = `holdfast job status ${job}`;
  return new HoldfastError(
    "session-busy",
    `There is a job ${job} already: give another id, or resume a pipeline with \`holdfast job resume ${job}\`. ` +
      `\`${command}\` shows where it stands.`,
    { session: job, command, cause },
  );
}

export type ResumePipelineOptions = {
  /** The stage to go on at; the first that has no answer unless said. */
  readonly from?: string;
  /** In place of those of the start before; what was spent counts. */
  readonly limits?: PipelineRequest["limits"];
};
