import { defaultPayloadConverter } from "@temporalio/common";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { JobLimits } from "../../schema/mode.ts";
import type { PipelineRequest } from "../../workflows/job-input.ts";
import { createUnknownJobError, isRunNotFound, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { checkCostLimit, checkOption } from "./check-option.ts";
import { launchJob, type ResumePipelineOptions, type StartedJob } from "./start-job.ts";

/** Resumes a pipeline after its completed stages: those with an answer are not asked again. */
export async function resumePipeline(
  link: ClientLink,
  job: string,
  { from, limits }: ResumePipelineOptions = {},
): Promise<StartedJob> {
  const previousRequest =
    limits === undefined ? undefined : checkOption(JobLimits.partial(), limits, "limits");
  const request = await readPipelineRequest(link, job);
  if (typeof previousRequest?.maxCostUsd === "number") {
    const transcript = await link.storage.openTranscript();
    const hashes = request.stages.map(({ definitionHash }) => definitionHash);
    const agents = await Promise.all(hashes.map((hash) => transcript.readDefinition(hash)));
    checkCostLimit(
      previousRequest,
      agents.flatMap((agent) => agent ?? []),
    );
  }
  const resumed: PipelineRequest = {
    ...request,
    ...(limits === undefined ? {} : { limits: { ...request.limits, ...limits } }),
    resume: omitUndefined({ from }),
  };
  const agents = request.stages.map(({ agent }) => agent).join(", ");
  const { task } = request;
  const text = typeof task === "string" ? task : task.text;
  return launchJob(link, "pipeline", job, resumed, { agents, task: text, isResume: true });
}

/** Reads the request that started the job's last run from its history. */
async function readPipelineRequest(link: ClientLink, job: string): Promise<PipelineRequest> {
  const { client, namespace } = link;
  try {
    const { type, runId } = await client.workflow.getHandle(job).describe();
    if (type !== "pipeline") throw createNotAPipelineError(job, type);
    const { history } = await client.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId: job, runId },
      maximumPageSize: 1,
    });
    const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
    const [payload] = started?.input?.payloads ?? [];
    const [decoded] = payload == null ? [] : await decodePayload(link, payload);
    if (decoded === undefined)
      throw new HoldfastError("session-unknown", `Job ${job} was started without a request`);
    return defaultPayloadConverter.fromPayload<PipelineRequest>(decoded);
  } catch (error) {
    throw isRunNotFound(error) ? createUnknownJobError(link, job, error) : toHoldfastError(error, link, job);
  }
}

type Payload = Parameters<typeof defaultPayloadConverter.fromPayload>[0];

async function decodePayload({ client }: ClientLink, payload: Payload): Promise<readonly Payload[]> {
  const { payloadCodecs } = client.options.loadedDataConverter;
  let payloads = [payload];
  for (const codec of [...payloadCodecs].reverse()) payloads = await codec.decode(payloads);
  return payloads;
}

function createNotAPipelineError(job: string, type: string): HoldfastError {
  const description = type === "agent" ? "a session" : `of the type ${type}`;
  const command = `holdfast continue ${job}`;
  return new HoldfastError(
    "input-invalid",
    `${job} is not a pipeline but ${description}, and only a pipeline can be resumed at a stage.` +
      (type === "agent" ? ` \`${command}\` continues a session.` : ""),
    { session: job, ...(type === "agent" ? { command } : {}) },
  );
}
