import { type BranchOutcome, isUsable } from "./branch-outcome.ts";

/** The branch with which an evaluation continues, and why. */
export type Decision = {
  /** The branch's index, from 0; -1 when no branch was to be chosen. */
  readonly selected: number;
  /** `fallback`: the strategy made no usable choice. `none`: all branches are retained. */
  readonly decidedBy: "strategy" | "fallback" | "none";
  /** Complete sentences for users; branches are counted from 1. */
  readonly reason: string;
};

/** Builds a choice among the branches that answered, and names the others. */
export function buildDecision(
  outcomes: readonly BranchOutcome[],
  selected: number,
  reason: string,
): Decision {
  return { selected, decidedBy: "strategy", reason: [reason, ...describeUnusable(outcomes)].join(" ") };
}

/**
 * Builds the decision when a strategy cannot choose (GAP-10): the first branch that answered; when none did, the first
 * that left a text; when none has one, the first.
 *
 * @param cause - A complete sentence.
 */
export function buildFallbackDecision(outcomes: readonly BranchOutcome[], cause: string): Decision {
  const inOrder = sortByIndex(outcomes);
  const usable = inOrder.find(isUsable);
  const worded = inOrder.find(({ textBytes }) => textBytes > 0);
  const selected = (usable ?? worded ?? inOrder[0])?.index ?? 0;
  const rank =
    usable !== undefined
      ? "the first that answered"
      : worded !== undefined
        ? "the first that left a text"
        : "the first branch, which left no text either";
  const reason = [cause, `Branch ${selected + 1} is taken, ${rank}.`, ...describeUnusable(outcomes)].join(
    " ",
  );
  return { selected, decidedBy: "fallback", reason };
}

/** Builds the decision to retain all branches (HITL-03). */
export function buildKeepAllDecision(outcomes: readonly BranchOutcome[]): Decision {
  const reason =
    outcomes.length === 1 ? "The only branch is retained." : `All ${outcomes.length} branches are retained.`;
  return { selected: -1, decidedBy: "none", reason: [reason, ...describeUnusable(outcomes)].join(" ") };
}

function sortByIndex(outcomes: readonly BranchOutcome[]): readonly BranchOutcome[] {
  return [...outcomes].sort((a, b) => a.index - b.index);
}

export function filterUsable(outcomes: readonly BranchOutcome[]): readonly BranchOutcome[] {
  return sortByIndex(outcomes).filter(isUsable);
}

/** Describes how unusable branches ended, without their reasons: a sentence stays short with any number of branches. */
function describeUnusable(outcomes: readonly BranchOutcome[]): readonly string[] {
  const unusable = sortByIndex(outcomes).filter((outcome) => !isUsable(outcome));
  if (unusable.length === 0) return [];
  const named = unusable.map(({ index, status }) => `branch ${index + 1} (${status.type})`);
  return [`Without an answer: ${named.join(", ")}.`];
}
