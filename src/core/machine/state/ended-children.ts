// What the state holds of sub-agents that have ended.

/** A single-word code for how something ended. */
export type OutcomeCode = "completed" | "limit-reached" | "failed" | "stopped";

/** The row of one sub-agent. */
export type ChildRow = {
  readonly session: string;
  /** The name by which it was called. */
  readonly agent: string;
  /** The beginning of its task. */
  readonly task: string;
  /** Whether it runs, or how it ended. */
  readonly status: "running" | OutcomeCode;
};

export type EndedChildren = { readonly count: number; readonly last: readonly ChildRow[] };
