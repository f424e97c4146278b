import { type Cost, type Holdfast, HoldfastError } from "../../../client/index.ts";
import { type Delegation, readCoverageFacts } from "./coverage-facts.ts";
import { nameCriticSession } from "./judge-artifact.ts";

/** What all of a run has used, whichever processes have waited for it. */
export type RunTotals = {
  /** Of the agent, its sub-agents and the critic. */
  readonly costUsd: Cost;
  /** Of the agent alone. */
  readonly turns: number;
  /** The sub-agents, in the order in which they were called. */
  readonly delegations: readonly Delegation[];
};

/** Reads from the record what a run has used. */
export async function readTotals(holdfast: Holdfast, session: string): Promise<RunTotals> {
  const { delegations } = readCoverageFacts(await holdfast.session(session).messages.list());
  const others = delegations.flatMap((one) => (one.session === undefined ? [] : [one.session]));
  const own = await readSessionTotals(holdfast, session);
  let costUsd: Cost = own.costUsd;
  for (const other of [...others, nameCriticSession(session)]) {
    const totals = await readSessionTotals(holdfast, other);
    costUsd = costUsd === null || totals.costUsd === null ? null : costUsd + totals.costUsd;
  }
  return { costUsd, turns: own.turns, delegations };
}

/** A session that has never begun has used nothing. */
async function readSessionTotals(
  holdfast: Holdfast,
  session: string,
): Promise<{ readonly costUsd: Cost; readonly turns: number }> {
  try {
    return (await holdfast.session(session).record()).totals;
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "session-unknown") return { costUsd: 0, turns: 0 };
    throw error;
  }
}
