import { defaultPayloadConverter } from "@temporalio/common";
import { JobLimits } from "../../schema/mode.ts";
import type { PipelineRequest } from "../../workflows/job-input.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { isGone, translated, unknownJob } from "../failures.ts";
import { checkCostLimit, checked } from "./checked.ts";
import { launchJob, type ResumeOptions, type StartedJob } from "./start-job.ts";

/** Starts a pipeline again behind what it has done: stages that have an answer are not asked again. */
export async function resumePipeline(
  link: Link,
  job: string,
  { from, limits }: ResumeOptions = {},
): Promise<StartedJob> {
  const given = limits === undefined ? undefined : checked(JobLimits.partial(), limits, "limits");
  const request = await requestOf(link, job);
  if (typeof given?.maxCostUsd === "number") {
    const transcript = await link.storage.transcript();
    const hashes = request.stages.map(({ definitionHash }) => definitionHash);
    const agents = await Promise.all(hashes.map((hash) => transcript.definition(hash)));
    checkCostLimit(
      given,
      agents.flatMap((agent) => agent ?? []),
    );
  }
  const again: PipelineRequest = {
    ...request,
    ...(limits === undefined ? {} : { limits: { ...request.limits, ...limits } }),
    resume: from === undefined ? {} : { from },
  };
  const agents = request.stages.map(({ agent }) => agent).join(", ");
  const { task } = request;
  const text = typeof task === "string" ? task : task.text;
  return launchJob(link, "pipeline", job, again, { agents, task: text, again: true });
}

/** What the job was started with the last time, as its history has it. */
async function requestOf(link: Link, job: string): Promise<PipelineRequest> {
  const { client, namespace } = link;
  try {
    const { type, runId } = await client.workflow.getHandle(job).describe();
    if (type !== "pipeline") throw notAPipeline(job, type);
    const { history } = await client.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId: job, runId },
      maximumPageSize: 1,
    });
    const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
    const [payload] = started?.input?.payloads ?? [];
    const [decoded] = payload == null ? [] : await decode(link, payload);
    if (decoded === undefined)
      throw new HoldfastError("session-unknown", `Job ${job} was started with nothing`);
    return defaultPayloadConverter.fromPayload<PipelineRequest>(decoded);
  } catch (error) {
    throw isGone(error) ? unknownJob(link, job, error) : translated(error, link, job);
  }
}

type Payload = Parameters<typeof defaultPayloadConverter.fromPayload>[0];

async function decode({ client }: Link, payload: Payload): Promise<readonly Payload[]> {
  const { payloadCodecs } = client.options.loadedDataConverter;
  let payloads = [payload];
  for (const codec of [...payloadCodecs].reverse()) payloads = await codec.decode(payloads);
  return payloads;
}

function notAPipeline(job: string, type: string): HoldfastError {
  const what = type === "agent" ? "a session" : `of the type ${type}`;
  const command = `holdfast continue ${job}`;
  return new HoldfastError(
    "input-invalid",
    `${job} is no pipeline but ${what}, and only a pipeline is resumed at a stage.` +
      (type === "agent" ? ` \`${command}\` goes on with a session.` : ""),
    { session: job, ...(type === "agent" ? { command } : {}) },
  );
}
