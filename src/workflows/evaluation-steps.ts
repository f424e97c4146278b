import { scheduleActivity } from "@temporalio/workflow";
import type { Activities } from "../activities/activities.ts";
import { writeOptions } from "./activity-options.ts";
import { setbackOf } from "./set-back.ts";

/** Workers that may die under one step before it is given up. */
const MAX_LOST = 10;

type Step = "open-evaluation" | "weigh" | "decide" | "record";
type Input<Name extends Step> = Omit<Parameters<Activities[Name]>[0], "number" | "generation">;
type Result<Name extends Step> = Awaited<ReturnType<Activities[Name]>>;

/** A step that cannot be done: the fault, as a run's outcome names it. */
export class StepFailed extends Error {
  readonly fault: string;

  constructor(fault: string, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** The steps of one evaluation, numbered; one whose worker died is given out again, and what it has stored counts. */
export class Steps {
  #number = 0;

  perform<Name extends Step>(
    name: Name,
    input: Input<Name>,
    summary: string,
    number = this.#number++,
  ): Promise<Result<Name>> {
    const attempt = (generation: number): Promise<Result<Name>> =>
      scheduleActivity<Result<Name>>(name, [{ ...input, number, generation }], writeOptions(summary)).catch(
        (error: unknown) => {
          const setback = setbackOf(error, false);
          if (setback.type === "lost" && generation <= MAX_LOST) return attempt(generation + 1);
          if (setback.type === "failed") throw new StepFailed(setback.failure.fault, setback.failure.message);
          throw new StepFailed(setback.type, `The step ${name} could not be done: ${setback.type}`);
        },
      );
    return attempt(1);
  }

  /** The newest step once more, of which nobody knows whether it was done: what it has stored counts. */
  again<Name extends Step>(name: Name, input: Input<Name>, summary: string): Promise<Result<Name>> {
    return this.perform(name, input, summary, this.#number - 1);
  }
}
