import { type BranchOutcome, isUsable } from "./branch-outcome.ts";

/** Which branch an evaluation goes on with, and why. */
export type Decision = {
  /** The branch's index, from 0; -1 where none was to be chosen. */
  readonly selected: number;
  /** `fallback`: the strategy gave no usable choice. `nobody`: all branches are kept. */
  readonly by: "strategy" | "fallback" | "nobody";
  /** Whole sentences for people; branches are counted from 1. */
  readonly reason: string;
};

/** A choice among the branches that answered; the others are named. */
export function decided(outcomes: readonly BranchOutcome[], selected: number, why: string): Decision {
  return { selected, by: "strategy", reason: [why, ...passedOver(outcomes)].join(" ") };
}

/**
 * What is taken when a strategy cannot choose (GAP-10): the first branch that answered; when none did, the first that
 * left a text; when none has one, the first.
 *
 * @param why - A sentence.
 */
export function fallback(outcomes: readonly BranchOutcome[], why: string): Decision {
  const inOrder = byIndex(outcomes);
  const usable = inOrder.find(isUsable);
  const worded = inOrder.find(({ textBytes }) => textBytes > 0);
  const selected = (usable ?? worded ?? inOrder[0])?.index ?? 0;
  const rank =
    usable !== undefined
      ? "the first that answered"
      : worded !== undefined
        ? "the first that left a text"
        : "the first of all, which left no text either";
  const reason = [why, `Branch ${selected + 1} is taken, ${rank}.`, ...passedOver(outcomes)].join(" ");
  return { selected, by: "fallback", reason };
}

/** HITL-03. */
export function allKept(outcomes: readonly BranchOutcome[]): Decision {
  const why = outcomes.length === 1 ? "The one branch is kept." : `All ${outcomes.length} branches are kept.`;
  return { selected: -1, by: "nobody", reason: [why, ...passedOver(outcomes)].join(" ") };
}

function byIndex(outcomes: readonly BranchOutcome[]): readonly BranchOutcome[] {
  return [...outcomes].sort((a, b) => a.index - b.index);
}

export function usableOf(outcomes: readonly BranchOutcome[]): readonly BranchOutcome[] {
  return byIndex(outcomes).filter(isUsable);
}

/** How the unusable ended, without their reasons: a sentence stays short with any number of branches. */
function passedOver(outcomes: readonly BranchOutcome[]): readonly string[] {
  const unusable = byIndex(outcomes).filter((outcome) => !isUsable(outcome));
  if (unusable.length === 0) return [];
  const named = unusable.map(({ index, status }) => `branch ${index + 1} (${status.type})`);
  return [`Without an answer: ${named.join(", ")}.`];
}
