import { scheduleActivity } from "@temporalio/workflow";
import type { Activities } from "../activities/activity-types.ts";
import { buildWriteOptions } from "./activity-options.ts";
import { toStepFailure } from "./step-failure.ts";

/** The number of workers that may die during one step before the evaluation gives up. */
const MAX_LOST_WORKERS = 10;

type Step = "open-evaluation" | "prepare-judge" | "select-branch" | "record";
type Input<Name extends Step> = Omit<Parameters<Activities[Name]>[0], "number" | "generation">;
type Result<Name extends Step> = Awaited<ReturnType<Activities[Name]>>;

/** A step that failed, with the fault that the run's outcome contains. */
export class EvaluationStepError extends Error {
  readonly fault: string;

  constructor(fault: string, message: string) {
    super(message);
    this.fault = fault;
  }
}

/**
 * Runs the numbered steps of one evaluation. A step whose worker died is dispatched again, and a result that it has
 * already stored counts.
 */
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
        throw new EvaluationStepError(failure.type, `The step ${name} failed: ${failure.type}`);
      });
    return attempt(1);
  }

  /** Repeats the newest step when it is unknown whether it was done. A result that it has already stored counts. */
  repeat<Name extends Step>(name: Name, input: Input<Name>, summary: string): Promise<Result<Name>> {
    return this.perform(name, input, summary, this.#number - 1);
  }
}
