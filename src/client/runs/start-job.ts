import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { describeIssues, formatExpected } from "../../schema/check.ts";
import { type JobLimits, WorkMode, type WorkModeInput } from "../../schema/mode.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import type { Prompt } from "../prompts/prompt-part.ts";
import { buildJobRequest, type JobRequest, type JobWorkMode } from "./build-job-request.ts";
import { buildRunOptions } from "./build-run-options.ts";
import { checkSearchAttributes } from "./check-search-attributes.ts";
import { keepJobTexts } from "./keep-texts.ts";
import { assertPrompt } from "./message-input.ts";
import { resolveJobId } from "./resolve-job-id.ts";
import { formatJobSummary } from "./run-labels.ts";
import { resolveTitle } from "./run-title.ts";
import { type StartResult, startRun } from "./start-run.ts";
import { WORKFLOW_OF_MODE } from "./workflow-of-mode.ts";

/** What a job does. */
export type StartJobOptions = {
  /** The agents of the job, and how they work together. */
  readonly mode: WorkModeInput;
  /**
   * The task: a text, or texts, images and files. Optional where the mode itself contains it: a fan-out with `tasks`. The
   * first stage of a pipeline, every part of a fan-out, and the lead of a supervisor get its images and files.
   */
  readonly task?: Prompt;
  /** The job's id, and the beginning of its sessions' ids; a new one by default. */
  readonly job?: string;
  /** The job's title, on one line; by default the first words of its task. */
  readonly title?: string;
};

export type StartedJob = { readonly job: string; readonly runId: string };

/** Finds all detectable errors before anything is written or started. */
export async function startJob(link: ClientLink, options: StartJobOptions): Promise<StartedJob> {
  const mode = parseMode(options.mode);
  const job = resolveJobId(options.job);
  if (mode.type === "interactive") return startInteractive(link, mode, job, options);
  if (options.task !== undefined) assertPrompt(options.task, "task");
  const title = await resolveTitle(link, { title: options.title, prompt: options.task });
  await checkSearchAttributes(link);
  const request = await buildJobRequest(link, mode, options.task);
  const started = await launchJob(link, mode.type, job, request, {
    agents: formatAgentNames(mode),
    task: options.task,
    title,
    isResume: false,
  });
  await keepJobTexts(link, job, request);
  return started;
}

export type JobLaunch = {
  readonly agents: string;
  readonly task?: Prompt | undefined;
  readonly title?: string | undefined;
  /** The job existed before: its completed work remains. */
  readonly isResume: boolean;
};

/** Starts the workflow of a mode. */
export async function launchJob(
  link: ClientLink,
  type: JobWorkMode["type"],
  job: string,
  request: JobRequest,
  { agents, task, title, isResume }: JobLaunch,
): Promise<StartedJob> {
  try {
    const handle = await link.client.workflow.start(WORKFLOW_OF_MODE[type], {
      ...buildRunOptions(link, job, {
        kind: type,
        prompt: task,
        title,
        summary: formatJobSummary(type, agents, title),
      }),
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

async function startInteractive(
  link: ClientLink,
  { agent, idleTimeoutMs }: Extract<WorkMode, { type: "interactive" }>,
  job: string,
  { task: prompt, title }: Pick<StartJobOptions, "task" | "title">,
): Promise<StartedJob> {
  const started: StartResult = await startRun(link, {
    agent,
    session: job,
    mode: "interactive",
    idleTimeoutMs,
    ...omitUndefined({ prompt, title }),
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

/** Formats the names of a mode's agents for labels. */
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
    `Job ${job} is still running. Wait until it ends, or stop it with \`${command}\`.`,
    { session: job, command, cause },
  );
}

function createJobTakenError(job: string, cause: unknown): HoldfastError {
  const command = `holdfast job status ${job}`;
  return new HoldfastError(
    "session-busy",
    `A job ${job} already exists: choose another id, or resume a pipeline with \`holdfast job resume ${job}\`. ` +
      `\`${command}\` displays its status.`,
    { session: job, command, cause },
  );
}

/** Where a pipeline resumes. */
export type ResumePipelineOptions = {
  /** The stage to resume at; by default the first one without an answer. */
  readonly from?: string;
  /** Replaces the limits of the earlier start; what it has spent counts. */
  readonly limits?: Partial<JobLimits>;
};
