import type { Score } from "../../schema/score.ts";

/** Returns the score of a success or a failure. */
export function toPassOrFail(passed: boolean, explanation?: string): Score {
  return { class: "scored", value: passed ? 1 : 0, passed, ...addExplanation(explanation) };
}

/** Returns the fraction of parts that are as expected; all of them are a success. Without a part, the fraction is 1. */
export function toFraction(matched: number, total: number, explanation?: string): Score {
  const value = total === 0 ? 1 : matched / total;
  return { class: "scored", value, passed: matched === total, ...addExplanation(explanation) };
}

/** Returns the score of a cell that lacks what the scorer needs. */
export function toUnscorable(explanation: string): Score {
  return { class: "unscorable", value: null, explanation };
}

/** Returns the score of a scorer that did not work. */
export function toFailed(explanation: string): Score {
  return { class: "failed", value: null, explanation };
}

function addExplanation(explanation: string | undefined) {
  return explanation === undefined ? {} : { explanation };
}
