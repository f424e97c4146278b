import { isCancellation, scheduleActivity, workflowInfo } from "@temporalio/workflow";
import type { Activities, ReduceInput } from "../activities/activity-types.ts";
import { openJob } from "../core/job/job.ts";
import type { JobResult } from "../core/job/job-result.ts";
import type { Outcome } from "../schema/record.ts";
import { buildModelOptions } from "./activity-options.ts";
import { buildOpening, JobRun, runAsJob } from "./job.ts";
import type { FanOutRequest } from "./job-input.ts";
import { mustBe, throughLosses, toFailedOutcome } from "./job-step.ts";
import { checkRequest } from "./request-shapes.ts";
import { buildSettings, isMessageInput } from "./run-input.ts";

type Reduced = Awaited<ReturnType<Activities["reduce-parts"]>>;

/** Each part is a child with a result: a few events of the history, and a row of the job's state. */
const MAX_PARTS = 1000;
const DEFAULT_CONCURRENCY = 10;

/** A reducer is a function of an application, and its failure may be temporary. */
const REDUCE_ATTEMPTS = 3;

/** Runs agents side by side, and combines their answers with a reducer. A part that fails never loses the others. */
export function fanOut(request: FanOutRequest): Promise<JobResult> {
  return runAsJob(async (outside) => {
    const asked = request?.parts;
    mustBe(Array.isArray(asked) && asked.length > 0, "`parts` must be a list of agents");
    mustBe(asked.length <= MAX_PARTS, `it has ${asked.length} parts; at most ${MAX_PARTS} are allowed`);
    mustBe(
      asked.every((one) => isMessageInput(one?.task)),
      "each of `parts` must have a `task`",
    );
    checkRequest(request, "fanOut");
    const { workflowId } = workflowInfo();
    const parts = asked.map(({ agent }, index) => {
      const name = `part-${index + 1}`;
      return { name, agent, session: `${workflowId}.${name}` };
    });
    const initial = openJob({ ...buildOpening(request), mode: "fan-out", parts });
    const job = new JobRun(initial, buildSettings(request), outside);
    const { concurrency = DEFAULT_CONCURRENCY } = request;
    await job.forEachPart(asked.length, concurrency, async (index) => {
      const { definitionHash, task } = asked[index]!;
      await job.runPart(index, { definitionHash, prompt: task }, asked.length - index);
    });
    return await reduceParts(job, request);
  });
}

async function reduceParts(job: JobRun, { parts, reducer = "list" }: FanOutRequest): Promise<JobResult> {
  if (job.stopOutcome !== undefined) return await job.end(job.stopOutcome);
  const answered = job.state.parts.filter(({ outcome }) => outcome?.type === "answered");
  if (answered.length === 0) return await job.end(getFirstFailure(job));
  job.update({ statusText: `combining ${answered.length} answers (${reducer})` });
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
    scheduleActivity<Reduced>("reduce-parts", [input], buildModelOptions(REDUCE_ATTEMPTS, reducer));
  const result = await job
    .runStep(() => throughLosses(reduce))
    .catch((error: unknown) => (isCancellation(error) && job.stopOutcome) || toFailedOutcome(error));
  return "type" in result
    ? await job.end(result)
    : await job.end({ type: "answered", stopReason: "stop" }, result);
}

/** Returns the outcome of the first failed part: most often the reason is the same for all. */
function getFirstFailure({ state }: JobRun): Outcome {
  const [first] = state.parts;
  const outcome = first?.outcome;
  if (
    outcome?.type === "limit-reached" &&
    state.parts.every((part) => part.outcome?.type === "limit-reached")
  ) {
    return {
      type: "limit-reached",
      reason: `no part has answered; the reason of the first part: ${outcome.reason}`,
    };
  }
  const reason = outcome === undefined ? "none" : describeOutcome(outcome);
  return {
    type: "failed",
    fault: "no-answer",
    message: `None of ${state.parts.length} parts has answered; the reason of the first part: ${reason}`,
  };
}

function describeOutcome(outcome: Outcome): string {
  if (outcome.type === "failed") return `failed: ${outcome.fault}: ${outcome.message}`;
  return "reason" in outcome ? `${outcome.type}: ${outcome.reason}` : outcome.type;
}
