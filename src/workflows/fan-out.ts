import { isCancellation, scheduleActivity, workflowInfo } from "@temporalio/workflow";
import type { Activities, ReduceInput } from "../activities/activities.ts";
import { openJob } from "../core/job/job.ts";
import type { JobResult } from "../core/job/job-result.ts";
import type { Outcome } from "../schema/record.ts";
import { modelOptions } from "./activity-options.ts";
import { isWords, settingsFrom } from "./input.ts";
import { asJob, JobRun, openingOf } from "./job.ts";
import type { FanOutRequest } from "./job-input.ts";
import { failureOf, mustBe, throughLosses } from "./job-step.ts";
import { mustBeRequest } from "./request-shapes.ts";

type Reduced = Awaited<ReturnType<Activities["reduce-parts"]>>;

/** Each part is a child with a result: a few events of the history, and a row of the job's state. */
const MOST_PARTS = 1000;
const DEFAULT_CONCURRENCY = 10;

/** A reducer is an application's: what keeps it from answering may pass. */
const REDUCE_ATTEMPTS = 3;

/** Agents side by side; what they say is put together by a reducer. A part that fails never loses the others. */
export function fanOut(request: FanOutRequest): Promise<JobResult> {
  return asJob(async (outside) => {
    const asked = request?.parts;
    mustBe(Array.isArray(asked) && asked.length > 0, "`parts` must be a list of agents");
    mustBe(asked.length <= MOST_PARTS, `it has ${asked.length} parts, and ${MOST_PARTS} go`);
    mustBe(
      asked.every((one) => isWords(one?.task)),
      "each of `parts` must have a `task`",
    );
    mustBeRequest(request, "fanOut");
    const { workflowId } = workflowInfo();
    const parts = asked.map(({ agent }, index) => {
      const name = `part-${index + 1}`;
      return { name, agent, session: `${workflowId}.${name}` };
    });
    const initial = openJob({ ...openingOf(request), mode: "fan-out", parts });
    const job = new JobRun(initial, settingsFrom(request), outside);
    const { concurrency = DEFAULT_CONCURRENCY } = request;
    await job.forEachPart(asked.length, concurrency, async (index) => {
      if (job.stopped !== undefined) return;
      const { definitionHash, task } = asked[index]!;
      await job.part(index, { definitionHash, prompt: task }, asked.length - index);
    });
    return await reduceParts(job, request);
  });
}

async function reduceParts(job: JobRun, { parts, reducer = "list" }: FanOutRequest): Promise<JobResult> {
  if (job.stopped !== undefined) return await job.end(job.stopped);
  const answered = job.state.parts.filter(({ outcome }) => outcome?.type === "answered");
  if (answered.length === 0) return await job.end(noAnswer(job));
  job.change({ doing: `putting ${answered.length} answers together (${reducer})` });
  const input: ReduceInput = {
    reducer,
    parts: job.state.parts.map(({ name, agent, session, outcome, report }, index) => ({
      name,
      agent,
      session,
      definitionHash: parts[index]!.definitionHash,
      outcome: outcome?.type ?? "none",
      ...report,
    })),
  };
  const reduce = () =>
    scheduleActivity<Reduced>("reduce-parts", [input], modelOptions(REDUCE_ATTEMPTS, reducer));
  const result = await job
    .step(() => throughLosses(reduce))
    .catch((error: unknown) => (isCancellation(error) && job.stopped) || failureOf(error));
  return "type" in result
    ? await job.end(result)
    : await job.end({ type: "answered", stopReason: "stop" }, result);
}

/** The first part says why: most often it is the same for all. */
function noAnswer({ state }: JobRun): Outcome {
  const [first] = state.parts;
  const outcome = first?.outcome;
  if (
    outcome?.type === "limit-reached" &&
    state.parts.every((part) => part.outcome?.type === "limit-reached")
  ) {
    return { type: "limit-reached", reason: `no part has answered; the first: ${outcome.reason}` };
  }
  const said = outcome === undefined ? "none" : describeOutcome(outcome);
  return {
    type: "failed",
    fault: "no-answer",
    message: `None of ${state.parts.length} parts has answered; the first: ${said}`,
  };
}

function describeOutcome(outcome: Outcome): string {
  if (outcome.type === "failed") return `failed: ${outcome.fault}: ${outcome.message}`;
  return "reason" in outcome ? `${outcome.type}: ${outcome.reason}` : outcome.type;
}
