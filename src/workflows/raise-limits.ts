import { ApplicationFailure } from "@temporalio/common";
import { LIMIT_NAMES as NAMES } from "../core/budget/limits.ts";
import { requirePinned } from "../core/machine/phase.ts";
import type { State } from "../core/machine/state/state.ts";
import type { Limits } from "../schema/definition.ts";

/** @throws A failure for who sent them, when they make no sense or no loop is running. */
export function checkLimits(state: State, limits: unknown): Partial<Limits> {
  if (state.loop === undefined)
    throw buildRejection("No loop is running: say the limits when it is continued");
  const given = Object.entries((limits ?? {}) as Record<string, unknown>);
  if (typeof limits !== "object" || given.length === 0) {
    throw buildRejection(`Say at least one of ${NAMES.join(", ")}`);
  }
  for (const [name, value] of given) {
    if (!NAMES.includes(name as keyof Limits))
      throw buildRejection(`There is no limit ${name}: ${NAMES.join(", ")}`);
    const isNumber = typeof value === "number" && Number.isFinite(value) && value > 0;
    if (value !== null && !isNumber)
      throw buildRejection(`${name} is a number above 0, or null for no limit`);
    const before = requirePinned(state).limits[name as keyof Limits];
    if (value !== null && (before === null || (value as number) < before)) {
      throw buildRejection(
        `${name} is ${before ?? "without limit"} now: limits of a running loop can only be raised`,
      );
    }
  }
  return limits as Partial<Limits>;
}

function buildRejection(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, "holdfast/invalid-limits");
}
