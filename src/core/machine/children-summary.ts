import { truncateForPreview } from "../../platform/text/preview.ts";
import type { Outcome } from "../../schema/record.ts";
import { toUsd } from "../budget/amounts.ts";
import { addCosts, type Cost } from "../budget/usage.ts";
import { getOutcomeCode } from "./outcome-code.ts";
import type { ChildRow } from "./state/ended-children.ts";
import type { State } from "./state/state.ts";

// What users see of sub-agents. The state retains the newest of those that have ended, and a count of all.

/** The sub-agents of a run. */
export type ChildrenSummary = {
  /** How many run. */
  readonly running: number;
  /** How many have ended. */
  readonly ended: number;
  /** The running ones first, then the newest of the others; at most ten. */
  readonly rows: readonly ChildRow[];
};

/** The number of rows that the state retains and the status lists. */
const MAX_ROWS = 10;
const TASK_BYTES = 80;

/** @param outcome - Absent for a sub-agent that ended without a report. */
export function addEndedChild(
  state: State,
  { session, agent, task }: Omit<ChildRow, "status">,
  outcome: Outcome | undefined,
): State {
  const status = outcome === undefined ? "failed" : getOutcomeCode(outcome);
  const row = { session, agent, task: shortenTask(task), status };
  const { count, last } = state.endedChildren ?? { count: 0, last: [] };
  return { ...state, endedChildren: { count: count + 1, last: [row, ...last].slice(0, MAX_ROWS) } };
}

/** Summarises the sub-agents; nothing for a run that has had none. */
export function summariseChildren({ phase, endedChildren }: State): ChildrenSummary | undefined {
  const running = (phase.type === "calling-tools" ? phase.calls : []).flatMap(({ name, summary, status }) =>
    status.type === "running" && status.child?.session !== undefined
      ? [
          {
            session: status.child.session,
            agent: name,
            task: shortenTask(summary),
            status: "running" as const,
          },
        ]
      : [],
  );
  const { count, last } = endedChildren ?? { count: 0, last: [] };
  if (running.length + count === 0) return undefined;
  return { running: running.length, ended: count, rows: [...running, ...last].slice(0, MAX_ROWS) };
}

/** Sums the dollars that ended sub-agents have spent. */
export function sumChildrenCost({ loop, totals }: Pick<State, "loop" | "totals">): Cost {
  const { costBelowUsd = 0 } = totals;
  return loop?.account === undefined
    ? costBelowUsd
    : addCosts(costBelowUsd, toUsd(loop.account.settled.nanoUsd));
}

function shortenTask(task: string): string {
  return truncateForPreview(task, TASK_BYTES);
}
