import { scheduleActivity, workflowInfo } from "@temporalio/workflow";
import type { Activities, PassOutputInput } from "../activities/activity-types.ts";
import { openJob } from "../core/job/job.ts";
import { type JobResult, locateOutcome } from "../core/job/job-result.ts";
import { getOutcome, recallPart } from "../core/job/parts.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { Outcome } from "../schema/record.ts";
import { buildWriteOptions } from "./activity-options.ts";
import { buildOpening, JobRun, runAsJob } from "./job.ts";
import type { PipelineRequest, StageRequest } from "./job-input.ts";
import { mustBe, mustHaveTask, toFailedOutcome } from "./job-step.ts";
import type { MessageInput } from "./messages.ts";
import { inspectChild } from "./part.ts";
import { checkRequest } from "./request-shapes.ts";
import { buildSettings } from "./run-input.ts";

type PassedOutput = Awaited<ReturnType<Activities["pass-output"]>>;
type Source = NonNullable<PassOutputInput["from"]>;

/** Runs agents one after the other: the output of one is the prompt of the next. */
export function pipeline(request: PipelineRequest): Promise<JobResult> {
  return runAsJob(async (outside) => {
    const stages = request?.stages;
    mustBe(Array.isArray(stages) && stages.length > 0, "`stages` must be a list of agents");
    mustHaveTask(request.task);
    checkRequest(request, "pipeline");
    const { workflowId } = workflowInfo();
    const parts = stages.map(({ name, agent }) => ({ name, agent, session: `${workflowId}.${name}` }));
    const initial = openJob({ ...buildOpening(request), mode: "pipeline", parts });
    const job = new JobRun(initial, buildSettings(request), outside);
    return await runStages(job, request);
  });
}

async function runStages(job: JobRun, request: PipelineRequest): Promise<JobResult> {
  const { stages } = request;
  const first = request.resume === undefined ? 0 : await recallDoneStages(job, request);
  if (typeof first !== "number") return await job.end(first);
  for (const [index, stage] of stages.entries()) {
    if (index < first) continue;
    if (job.stopOutcome !== undefined) return await job.end(job.stopOutcome, { endedAt: stage.name });
    job.update({ statusText: `preparing the prompt of ${stage.name}` });
    const given = await passOutput(job, request, stage, index);
    if ("type" in given)
      return await job.end(locateOutcome(`Stage "${stage.name}"`, given), { endedAt: stage.name });
    const end = await job.runPart(index, {
      definitionHash: stage.definitionHash,
      prompt: toPrompt(given),
    });
    const outcome = end.type === "denied" ? end.outcome : getOutcome(end);
    if (outcome.type !== "answered" || job.stopOutcome !== undefined)
      return await endEarly(job, stage, outcome);
  }
  job.update({ statusText: "reading the result" });
  const last = await getOutput({ ...request, from: buildSource(job, stages.length - 1, stages) });
  if ("type" in last) return await job.end(locateOutcome(`Stage "${stages.at(-1)?.name}"`, last));
  const { ref, bytes, text } = last;
  return await job.end({ type: "answered", stopReason: "stop" }, { ref, bytes, text: text ?? "" });
}

/**
 * Ends the job after a stage that did not answer, or after a stop. A stage that ended after a stop keeps its answer;
 * the next stage does not start.
 */
async function endEarly(job: JobRun, stage: StageRequest, outcome: Outcome): Promise<JobResult> {
  const reason = job.stopOutcome ?? locateOutcome(`Stage "${stage.name}"`, outcome);
  return await job.end(reason, { endedAt: stage.name });
}

/** Returns the number of stages that earlier starts of the job have completed. */
async function recallDoneStages(job: JobRun, { stages, resume }: PipelineRequest): Promise<number | Outcome> {
  const wanted = stages.findIndex(({ name }) => name === resume?.from);
  if (resume?.from !== undefined && wanted < 0)
    return buildFailedOutcome(`there is no stage "${resume.from}"`);
  for (const [index, { name }] of stages.entries()) {
    if (index === wanted) return index;
    const report = await inspectChild(`${job.state.job}.${name}`, `the result of ${name}`);
    if (report?.outcome.type !== "answered") {
      if (wanted < 0) return index;
      return buildFailedOutcome(
        `stage "${name}" comes before "${resume?.from}" and has no answer: resume from "${name}"`,
      );
    }
    job.update(recallPart(job.state, index, report));
  }
  return stages.length;
}

function buildFailedOutcome(message: string): Outcome {
  return { type: "failed", fault: "resume", message };
}

function passOutput(
  job: JobRun,
  { task, stages }: PipelineRequest,
  stage: StageRequest,
  index: number,
): Promise<PassedOutput | Outcome> {
  const { name, prompt, input } = stage;
  return getOutput({
    task,
    to: { name, ...omitUndefined({ prompt, input }) },
    ...(index === 0 ? {} : { from: buildSource(job, index - 1, stages) }),
  });
}

function toPrompt({ ref, parts, tokens }: PassedOutput): MessageInput {
  return { ref, ...omitUndefined({ parts, tokens }) };
}

function buildSource(job: JobRun, index: number, stages: readonly StageRequest[]): Source {
  const { name, session, report } = job.state.parts[index]!;
  return { name, session, definitionHash: stages[index]!.definitionHash, ...report };
}

function getOutput({ task, from, to }: PassOutputInput): Promise<PassedOutput | Outcome> {
  const input: PassOutputInput = {
    task,
    ...omitUndefined({ from, to }),
  };
  const summary = to === undefined ? "the result" : `to ${to.name}`;
  return scheduleActivity<PassedOutput>("pass-output", [input], buildWriteOptions(summary)).catch(
    toFailedOutcome,
  );
}
