import { patched } from "@temporalio/workflow";
import { RULES } from "../core/machine/state/state.ts";

/** The oldest rule set that a run may still be under. */
const OLDEST_RULES = 1;

/**
 * The rule set that a run begins under: this release's, unless an older release has begun it. A marker in the history
 * says which; it is written while there is more than one, and what has none is under the oldest.
 */
export function rulesAtStart(newest: number = RULES): number {
  for (let rules = newest; rules > OLDEST_RULES; rules -= 1) if (patched(`rules-${rules}`)) return rules;
  return OLDEST_RULES;
}
