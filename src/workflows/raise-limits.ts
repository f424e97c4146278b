import { ApplicationFailure } from "@temporalio/common";
import { LIMIT_NAMES as NAMES } from "../core/budget/limits.ts";
import { requirePinned } from "../core/machine/phase.ts";
import type { State } from "../core/machine/state/state.ts";
import type { Limits } from "../schema/limits.ts";

/** @throws A failure for the sender, when the limits are invalid or no loop is running. */
export function checkLimits(state: State, limits: unknown): Partial<Limits> {
  if (state.loop === undefined)
    throw buildRejection(
      "No loop is running whose limits could be raised: specify the limits when you continue the session",
    );
  const given = Object.entries((limits ?? {}) as Record<string, unknown>);
  if (typeof limits !== "object" || given.length === 0) {
    throw buildRejection(`Specify at least one of ${NAMES.join(", ")}`);
  }
  for (const [name, value] of given) {
    if (!NAMES.includes(name as keyof Limits))
      throw buildRejection(`Unknown limit ${name}: the limits are ${NAMES.join(", ")}`);
    const isNumber = typeof value === "number" && Number.isFinite(value) && value > 0;
    if (value !== null && !isNumber)
      throw buildRejection(`${name} must be a number above 0, or null for no limit`);
    const before = requirePinned(state).limits[name as keyof Limits];
    if (value !== null && (before === null || (value as number) < before)) {
      throw buildRejection(
        `${name} is currently ${before ?? "without limit"}: the limits of a running loop can only be raised`,
      );
    }
  }
  return limits as Partial<Limits>;
}

function buildRejection(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, "holdfast/invalid-limits");
}
