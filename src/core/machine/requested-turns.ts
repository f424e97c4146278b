import type { SubAgentLimits } from "../../schema/limits.ts";
import type { Call } from "./state/call-status.ts";
import type { ToolFacts } from "./state/digest.ts";

// The argument by which a call sets the maximum of turns of its sub-agent (IRIS-24).

export const MAX_TURNS_ARGUMENT = "max_turns";
export const MAX_REQUESTED_TURNS = 100;

/** Clamps the argument; anything but a number is as if it were absent. */
export function clampRequestedTurns(given: unknown): number | undefined {
  if (typeof given !== "number" || Number.isNaN(given)) return undefined;
  return Math.min(MAX_REQUESTED_TURNS, Math.max(1, Math.trunc(given)));
}

type RequestingCall = Pick<Call, "maxTurns" | "changedArguments">;

/** Returns the turns that a call has set for its sub-agent; arguments that the user has changed replace the model's. */
export function getRequestedTurns(
  { maxTurns, changedArguments: changed }: RequestingCall,
  facts: NonNullable<ToolFacts["child"]>,
): number | undefined {
  if (facts.acceptsMaxTurns !== true) return undefined;
  return changed === undefined ? maxTurns : clampRequestedTurns(changed[MAX_TURNS_ARGUMENT]);
}

/** Returns the limits of a sub-agent for one call. */
export function buildCallLimits(
  call: RequestingCall,
  facts: NonNullable<ToolFacts["child"]>,
): SubAgentLimits {
  const maxTurns = getRequestedTurns(call, facts);
  return maxTurns === undefined ? facts.limits : { ...facts.limits, maxTurns };
}
