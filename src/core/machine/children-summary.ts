import { truncateForPreview } from "../../platform/text/preview.ts";
import type { Outcome } from "../../schema/record.ts";
import { toUsd } from "../budget/amounts.ts";
import { addCosts, type Cost } from "../budget/usage.ts";
import { getOutcomeCode, type OutcomeCode } from "./outcome-code.ts";
import type { State } from "./state/state.ts";

// What people are shown of sub-agents. The state keeps the newest of those that are over, and a count of all.

/** One sub-agent, in a row. */
export type ChildRow = {
  readonly session: string;
  /** The name that it was called by. */
  readonly agent: string;
  /** A few words of its task. */
  readonly task: string;
  readonly status: "running" | OutcomeCode;
};

export type EndedChildren = { readonly count: number; readonly last: readonly ChildRow[] };

export type ChildrenSummary = {
  readonly running: number;
  readonly over: number;
  /** Those at work first, then the newest of the others; ten at most. */
  readonly rows: readonly ChildRow[];
};

/** Rows that are kept, and that are shown. */
const MAX_ROWS = 10;
const TASK_BYTES = 80;

/** @param outcome - Absent for one that is gone without a word. */
export function addEndedChild(
  state: State,
  { session, agent, task }: Omit<ChildRow, "status">,
  outcome: Outcome | undefined,
): State {
  const status = outcome === undefined ? "failed" : getOutcomeCode(outcome);
  const row = { session, agent, task: shortenTask(task), status };
  const { count, last } = state.childrenOver ?? { count: 0, last: [] };
  return { ...state, childrenOver: { count: count + 1, last: [row, ...last].slice(0, MAX_ROWS) } };
}

/** Nothing for a run that has had no sub-agents. */
export function summariseChildren({ phase, childrenOver }: State): ChildrenSummary | undefined {
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
  const { count, last } = childrenOver ?? { count: 0, last: [] };
  if (running.length + count === 0) return undefined;
  return { running: running.length, over: count, rows: [...running, ...last].slice(0, MAX_ROWS) };
}

/** Dollars that sub-agents have spent which are over. */
export function sumChildrenCost({ loop, totals }: Pick<State, "loop" | "totals">): Cost {
  const { costBelowUsd = 0 } = totals;
  return loop?.account === undefined
    ? costBelowUsd
    : addCosts(costBelowUsd, toUsd(loop.account.settled.nanoUsd));
}

function shortenTask(task: string): string {
  return truncateForPreview(task, TASK_BYTES);
}
