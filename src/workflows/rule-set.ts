import { patched } from "@temporalio/workflow";
import { RULE_SET } from "../core/machine/state/state.ts";

/** The oldest rule set that a run may still be under. */
const OLDEST_RULE_SET = 1;

/**
 * The rule set that a run begins under: this release's, unless an older release has begun it. A marker in the history
 * says which; it is written while there is more than one, and what has none is under the oldest.
 */
export function chooseRuleSet(newest: number = RULE_SET): number {
  for (let rules = newest; rules > OLDEST_RULE_SET; rules -= 1) if (patched(`rules-${rules}`)) return rules;
  return OLDEST_RULE_SET;
}
