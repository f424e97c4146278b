/** The steps that are left for reading one answer. They are counted and not timed: an answer is always read alike. */
export type StepBudget = { left: number };

/** A character that is looked at is a step; so is a value, a name and a quote, each with what must be looked at around it. */
const STEPS_OF_EACH_CHAR = 12;
const MIN_STEPS = 200_000;
const MAX_STEPS = 12_000_000;

export function createStepBudget(chars: number): StepBudget {
  return { left: Math.min(MAX_STEPS, MIN_STEPS + STEPS_OF_EACH_CHAR * chars) };
}

/** Returns `false` where no steps are left: the answer is not read. */
export function spend(budget: StepBudget, steps: number): boolean {
  budget.left -= steps;
  return budget.left >= 0;
}
