import { scheduleActivity } from "@temporalio/workflow";
import type { Activities } from "../activities/activity-types.ts";
import { buildWriteOptions } from "./activity-options.ts";
import { toStepFailure } from "./step-failure.ts";

/** Workers that may die under one step before it is given up. */
const MAX_LOST_WORKERS = 10;

type Step = "open-evaluation" | "weigh" | "decide" | "record";
type Input<Name extends Step> = Omit<Parameters<Activities[Name]>[0], "number" | "generation">;
type Result<Name extends Step> = Awaited<ReturnType<Activities[Name]>>;

/** A step that cannot be done: the fault, as a run's outcome names it. */
export class EvaluationStepError extends Error {
  readonly fault: string;

  constructor(fault: string, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** The steps of one evaluation, numbered; one whose worker died is given out again, and what it has stored counts. */
export class EvaluationSteps {
  #number = 0;

  perform<Name extends Step>(
    name: Name,
    input: Input<Name>,
    summary: string,
    number = this.#number++,
  ): Promise<Result<Name>> {
    const attempt = (generation: number): Promise<Result<Name>> =>
      scheduleActivity<Result<Name>>(
        name,
        [{ ...input, number, generation }],
        buildWriteOptions(summary),
      ).catch((error: unknown) => {
        const failure = toStepFailure(error, false);
        if (failure.type === "lost" && generation <= MAX_LOST_WORKERS) return attempt(generation + 1);
        if (failure.type === "failed")
          throw new EvaluationStepError(failure.failure.fault, failure.failure.message);
        throw new EvaluationStepError(failure.type, `The step ${name} could not be done: ${failure.type}`);
      });
    return attempt(1);
  }

  /** The newest step once more, of which nobody knows whether it was done: what it has stored counts. */
  repeat<Name extends Step>(name: Name, input: Input<Name>, summary: string): Promise<Result<Name>> {
    return this.perform(name, input, summary, this.#number - 1);
  }
}
