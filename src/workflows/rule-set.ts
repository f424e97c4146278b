import { patched } from "@temporalio/workflow";
import { RULE_SET } from "../core/machine/state/state.ts";

/** The oldest rule set that a run may still use. */
const OLDEST_RULE_SET = 1;

/**
 * Returns the rule set that a run begins under: this release's, unless an older release started the run. A marker in
 * the history names the rule set. It is written while there is more than one; a run without a marker uses the oldest.
 */
export function chooseRuleSet(newest: number = RULE_SET): number {
  for (let rules = newest; rules > OLDEST_RULE_SET; rules -= 1) if (patched(`rules-${rules}`)) return rules;
  return OLDEST_RULE_SET;
}
