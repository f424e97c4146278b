import type { FilterResult, InputFilter } from "../../hooks/filters.ts";
import type { ScenarioFilter } from "./form/filter.ts";

/** Creates a worker's input filter from a scenario's filter. */
export function createFilter({ rules }: ScenarioFilter): InputFilter {
  return (text): FilterResult => {
    const rule = rules.find(({ contains = "" }) => text.includes(contains));
    if (rule?.throws !== undefined) throw new Error(rule.throws);
    if (rule?.reject !== undefined) return { type: "reject", reason: rule.reject };
    if (rule?.warn !== undefined) return { type: "warn", warning: rule.warn };
    return { type: "pass" };
  };
}
