import { scheduleActivity, workflowInfo } from "@temporalio/workflow";
import type { Activities, HandOverInput } from "../activities/activities.ts";
import { openJob } from "../core/job/job.ts";
import { type JobResult, outcomeAt } from "../core/job/job-result.ts";
import { recallPart } from "../core/job/parts.ts";
import type { Outcome } from "../schema/record.ts";
import { writeOptions } from "./activity-options.ts";
import { settingsFrom } from "./input.ts";
import { asJob, JobRun, openingOf } from "./job.ts";
import type { PipelineRequest, StageRequest } from "./job-input.ts";
import { failureOf, mustBe, mustHaveTask } from "./job-step.ts";
import { lookAt } from "./part.ts";
import { mustBeRequest } from "./request-shapes.ts";

type HandedOver = Awaited<ReturnType<Activities["hand-over"]>>;
type Source = NonNullable<HandOverInput["from"]>;

/** Agents one after the other: what one says is the prompt of the next. */
export function pipeline(request: PipelineRequest): Promise<JobResult> {
  return asJob(async (outside) => {
    const stages = request?.stages;
    mustBe(Array.isArray(stages) && stages.length > 0, "`stages` must be a list of agents");
    mustHaveTask(request.task);
    mustBeRequest(request, "pipeline");
    const { workflowId } = workflowInfo();
    const parts = stages.map(({ name, agent }) => ({ name, agent, session: `${workflowId}.${name}` }));
    const initial = openJob({ ...openingOf(request), mode: "pipeline", parts });
    const job = new JobRun(initial, settingsFrom(request), outside);
    return await drive(job, request);
  });
}

async function drive(job: JobRun, request: PipelineRequest): Promise<JobResult> {
  const { stages } = request;
  const first = request.resume === undefined ? 0 : await doneBefore(job, request);
  if (typeof first !== "number") return await job.end(first);
  for (const [index, stage] of stages.entries()) {
    if (index < first) continue;
    if (job.stopped !== undefined) return await job.end(job.stopped, { at: stage.name });
    job.change({ doing: `handing over to ${stage.name}` });
    const given = await passOutput(job, request, stage, index);
    if ("type" in given) return await job.end(outcomeAt(`Stage "${stage.name}"`, given), { at: stage.name });
    const end = await job.part(index, { definitionHash: stage.definitionHash, prompt: { ref: given.ref } });
    const outcome = job.state.parts[index]?.outcome as Outcome;
    const isOver = end.type === "refused" || outcome.type !== "answered" || job.stopped !== undefined;
    if (isOver) return await endEarly(job, stage, outcome);
  }
  job.change({ doing: "reading the last words" });
  const last = await outputOf({ ...request, from: sourceAt(job, stages.length - 1, stages) });
  if ("type" in last) return await job.end(outcomeAt(`Stage "${stages.at(-1)?.name}"`, last));
  const { ref, bytes, text } = last;
  return await job.end({ type: "answered", stopReason: "stop" }, { ref, bytes, text: text ?? "" });
}

/** A stage that came to its end behind a stop has its answer; what comes next is not begun. */
async function endEarly(job: JobRun, stage: StageRequest, outcome: Outcome): Promise<JobResult> {
  const why = job.stopped ?? outcomeAt(`Stage "${stage.name}"`, outcome);
  return await job.end(why, { at: stage.name });
}

/** What earlier starts of the job have had done: the number of stages that need not be done again. */
async function doneBefore(job: JobRun, { stages, resume }: PipelineRequest): Promise<number | Outcome> {
  const wanted = stages.findIndex(({ name }) => name === resume?.from);
  if (resume?.from !== undefined && wanted < 0) return refused(`there is no stage "${resume.from}"`);
  for (const [index, { name }] of stages.entries()) {
    if (index === wanted) return index;
    const report = await lookAt(`${job.state.job}.${name}`, `what ${name} has done`);
    if (report?.outcome.type !== "answered") {
      if (wanted < 0) return index;
      return refused(
        `stage "${name}" stands before "${resume?.from}" and has no answer: resume from "${name}"`,
      );
    }
    job.change(recallPart(job.state, index, report));
  }
  return stages.length;
}

function refused(message: string): Outcome {
  return { type: "failed", fault: "resume", message };
}

function passOutput(
  job: JobRun,
  { task, stages }: PipelineRequest,
  stage: StageRequest,
  index: number,
): Promise<HandedOver | Outcome> {
  const { name, prompt, input } = stage;
  return outputOf({
    task,
    to: { name, ...(prompt === undefined ? {} : { prompt }), ...(input === undefined ? {} : { input }) },
    ...(index === 0 ? {} : { from: sourceAt(job, index - 1, stages) }),
  });
}

function sourceAt(job: JobRun, index: number, stages: readonly StageRequest[]): Source {
  const { name, session, report } = job.state.parts[index]!;
  return { name, session, definitionHash: stages[index]!.definitionHash, ...report };
}

function outputOf({ task, from, to }: HandOverInput): Promise<HandedOver | Outcome> {
  const input: HandOverInput = {
    task,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
  const summary = to === undefined ? "the result" : `to ${to.name}`;
  return scheduleActivity<HandedOver>("hand-over", [input], writeOptions(summary)).catch(failureOf);
}
