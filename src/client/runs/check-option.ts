import type { z } from "zod";
import { check } from "../../schema/check.ts";
import { findCostLimitProblem, type PricedAgent } from "../../schema/prices.ts";
import { HoldfastError, type HoldfastErrorCode } from "../holdfast-error.ts";

/**
 * Validates the value of an option with a schema.
 *
 * @param optionName - Problems begin with it.
 * @throws HoldfastError That lists every problem.
 */
export function checkOption<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  optionName: string,
  code: HoldfastErrorCode = "input-invalid",
): z.output<Schema> {
  const found = check(schema, value, "");
  if (found.ok) return found.value;
  const problems = found.problems.map((problem) => formatOptionProblem(optionName, problem));
  throw new HoldfastError(code, `The option ${optionName} is not valid: ${problems.join("; ")}.`, {
    problems,
  });
}

function formatOptionProblem(optionName: string, problem: string): string {
  return problem.startsWith(":") ? `${optionName}${problem}` : `${optionName}.${problem}`;
}

/** @param agents - All agents whose costs count. @throws HoldfastError If the price of any of their models is unknown. */
export function checkCostLimit(
  limits: { readonly maxCostUsd?: number | null | undefined } | undefined,
  agents: readonly PricedAgent[],
): void {
  if (limits?.maxCostUsd === undefined || limits.maxCostUsd === null) return;
  const problem = findCostLimitProblem(agents);
  if (problem === undefined) return;
  const problems = [`limits.maxCostUsd: ${problem}`];
  throw new HoldfastError("input-invalid", `The option limits is not valid: ${problems.join("; ")}.`, {
    problems,
  });
}
