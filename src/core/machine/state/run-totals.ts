import type { Usage } from "../../../schema/message.ts";
import type { Cost } from "../../budget/usage.ts";

/** What a run has used, all of its loops together. */
export type RunTotals = {
  /** The tokens of the agent's own answers; those of sub-agents are in their own results. */
  readonly usage: Usage;
  /** US dollars, sub-agents included. `null` when the price of any part is unknown. */
  readonly costUsd: Cost;
  /** The turns of all its loops. */
  readonly turns: number;
  /** The milliseconds that its loops took, without the waits for prompts between them. */
  readonly durationMs: number;
};
