// What was spent, what may be spent, and the account that holds both: small JSON values.

/**
 * What was spent or is reserved. All are whole numbers, so sums are exact in any order and grouping.
 *
 * Dollars are therefore counted in billionths. A fraction is rounded once, where it is spent; sums over a thousand
 * children are then sums of integers, exact up to nine million dollars.
 */
export type Amounts = {
  /** The number of turns. */
  readonly turns: number;
  /** The tokens, input and output together. */
  readonly tokens: number;
  /** `null` when the price of something that was used is unknown. */
  readonly nanoUsd: number | null;
  /** The number of agents that were started. */
  readonly children: number;
};

/** What an agent and all agents below it may use together. `null` is without limit. */
export type Allowance = {
  readonly turns: number | null;
  readonly tokens: number | null;
  readonly nanoUsd: number | null;
  readonly children: number | null;
  /** Unix milliseconds. Time is not divided: agents that run side by side have the same deadline. */
  readonly deadlineMs: number | null;
  /** The levels of agents that may exist below; 0 for none. */
  readonly depth: number;
};

/**
 * The account of one agent and of the tree of agents below it (design 3.9): one small JSON value, which continue-as-new
 * and a fork carry along. Each agent has its own account and never reads another's.
 *
 * What the agent itself spends is not in the account but passed beside it, as `Spent`: the loop already counts it.
 *
 * Invariants
 *   B1. When the agent begins a step or starts children, and after it has started them, the sum of what is reserved for
 *       children, what ended children have spent and what the agent itself has spent is at most its allowance.
 *   B2. A child is reserved for once and settled once: from then on what it spent counts, and the rest is free again.
 *   B3. Turns, tokens and dollars are exceeded by at most the step in flight. Precisely: an agent begins a step only
 *       while something is left, and how much the step takes is known only when it ends. So an agent exceeds its
 *       allowance by at most one step of its own, plus the amounts by which children that were running side by side
 *       when it last began something have exceeded theirs; earlier excess of children has been taken from what was
 *       left. The limit of a whole tree is exceeded by at most one step of each agent that was running when it was
 *       reached.
 *   B4. The number of children and the depth are known in advance and are never exceeded. A deadline is exceeded by at
 *       most the step in flight.
 */
export type Account = {
  /** Set by its own definition, or raised by an operator. */
  readonly own: Allowance;
  /** What its parent has reserved for it: raising its own limits never exceeds this. Absent at the root. */
  readonly allocation?: Allowance;
  /** Spent by ended children and everything below them. */
  readonly settled: Amounts;
  /** Reserved for running children, each with itself as one of `children`. */
  readonly reserved: Readonly<Record<string, Amounts>>;
};
