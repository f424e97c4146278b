import type { BranchOutcome } from "../../core/evaluation/branch-outcome.ts";
import {
  buildDecision,
  buildFallbackDecision,
  type Decision,
  filterUsable,
} from "../../core/evaluation/decision.ts";
import { ProtocolError } from "../../platform/text/protocol-error.ts";
import type { PinnedStrategy, PlainStrategy } from "../../schema/evaluation.ts";

// Choosing a branch (PAR-04, PAR-05, GAP-10). A strategy chooses among the branches that answered. A branch that failed,
// was stopped or exceeded its budget does not prevent another from being chosen. Only when no branch answered does the
// fallback take one of them, and the decision says so.

export type StrategyType = PinnedStrategy["type"];

/** Returns why an evaluation cannot begin, or nothing. Call it before a branch is started. */
export function findStrategyProblem(strategy: StrategyType, branches: number): string | undefined {
  if (branches < 1) return "An evaluation needs at least one configuration, but none was given.";
  if (strategy === "transparent" && branches > 1) {
    return `The strategy "transparent" passes one branch through and cannot choose among ${branches}. Give one configuration, or another strategy.`;
  }
  return undefined;
}

/** Chooses a branch. Equal token counts go to the lowest index. */
export function chooseBranch(strategy: PlainStrategy, outcomes: readonly BranchOutcome[]): Decision {
  const problem = findStrategyProblem(strategy, outcomes.length);
  if (problem !== undefined) throw new ProtocolError(problem);
  const usable = filterUsable(outcomes);
  const [first] = usable;
  if (first === undefined) return buildFallbackDecision(outcomes, "No branch answered.");
  return CHOOSERS[strategy](outcomes, usable, first);
}

/** @param usable - The branches that answered, in order; `first` is one of them. */
type Chooser = (
  outcomes: readonly BranchOutcome[],
  usable: readonly BranchOutcome[],
  first: BranchOutcome,
) => Decision;

const CHOOSERS: { readonly [Strategy in PlainStrategy]: Chooser } = {
  transparent: (outcomes, _, { index }) =>
    buildDecision(outcomes, index, `Branch ${index + 1} is the only one.`),
  "pick-first": (outcomes, _, { index }) =>
    buildDecision(outcomes, index, `Branch ${index + 1} is the first that answered.`),
  "token-efficient": (outcomes, usable) => chooseByTokens(outcomes, usable, "fewest", (a, b) => a < b),
  elaborate: (outcomes, usable) => chooseByTokens(outcomes, usable, "most", (a, b) => a > b),
};

function chooseByTokens(
  outcomes: readonly BranchOutcome[],
  usable: readonly BranchOutcome[],
  word: string,
  beats: (tokens: number, others: number) => boolean,
): Decision {
  const tokensOf = ({ usage }: BranchOutcome) => usage.totalTokens;
  const best = usable.reduce((found, outcome) =>
    beats(tokensOf(outcome), tokensOf(found)) ? outcome : found,
  );
  const reason = `Branch ${best.index + 1} used the ${word} tokens of those that answered, ${tokensOf(best)}.`;
  return buildDecision(outcomes, best.index, reason);
}

/**
 * Checks the choice of an application's own strategy. Anything but the index of a branch that answered is rejected.
 *
 * For a strategy that threw, call `buildFallbackDecision` with its message.
 */
export function checkCustomChoice(
  name: string,
  outcomes: readonly BranchOutcome[],
  selected: unknown,
): Decision {
  const usable = filterUsable(outcomes);
  if (usable.length === 0) return buildFallbackDecision(outcomes, "No branch answered.");
  const chosen = usable.find(({ index }) => index === selected);
  if (chosen !== undefined) {
    return buildDecision(outcomes, chosen.index, `Strategy "${name}" chose branch ${chosen.index + 1}.`);
  }
  const found = typeof selected === "number" ? String(selected) : `a value of type ${typeof selected}`;
  const indices = usable.map(({ index }) => index).join(", ");
  return buildFallbackDecision(
    outcomes,
    `Strategy "${name}" returned ${found} instead of the index of a branch that answered (${indices}).`,
  );
}
