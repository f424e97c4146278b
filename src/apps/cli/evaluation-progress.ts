import type { AgentEvent, EvaluatedBranch, EvaluationOutcome } from "../../client/index.ts";
import { PROGRESS_SOURCES } from "../../client/read/progress-sources.ts";
import { formatDollars } from "../../core/budget/limits.ts";
import { shortenText } from "./text.ts";

// Prints several concurrent branches: a line for each step, and a table of all branches at the end.

type BranchProgress = { turns: number; tokens: number };

/** Formats the events of an evaluation as one line for each step of a branch. */
export class EvaluationProgress {
  readonly #names = new Map<string, string>();
  readonly #progress = new Map<string, BranchProgress>();

  /** @returns A line to print; undefined for events without one. */
  formatEvent(event: AgentEvent): string | undefined {
    if (event.type === "ParallelLoopStart") {
      for (const [index, loopId] of event.loopIds.entries()) this.#names.set(loopId, `branch ${index + 1}`);
      return undefined;
    }
    if (event.type === "ParallelLoopEnd") return undefined;
    const { loopId } = event;
    const name = this.#names.get(loopId) ?? "judge";
    const line = this.#progress.get(loopId) ?? { turns: 0, tokens: 0 };
    this.#progress.set(loopId, line);
    switch (event.type) {
      case "AgentStart":
        return `${name} started`;
      case "ToolExecutionStart":
        return `${name} · turn ${line.turns + 1} · ${shortenText(event.toolName, 60)}`;
      case "TurnEnd":
        line.turns += 1;
        line.tokens += event.usage.totalTokens;
        return `${name} · ${line.turns} turn${line.turns === 1 ? "" : "s"} · ${line.tokens} tokens`;
      case "AgentEnd":
        return `${name} ended: ${event.outcome?.type ?? "without an outcome"}`;
      case "ProgressMessage":
        return event.toolCallId === PROGRESS_SOURCES.evaluation ? event.text : undefined;
      default:
        return undefined;
    }
  }
}

const HEADINGS = ["", "agent", "model", "status", "turns", "tokens", "cost", "seconds"] as const;

/** Formats the table's rows: all branches in the order of their configurations, the selected one with a star. */
export function formatEvaluation({
  selected,
  otherBranches,
}: EvaluationOutcome): readonly (readonly string[])[] {
  const branches = [selected, ...otherBranches].sort((first, second) => first.index - second.index);
  return [HEADINGS, ...branches.map((branch) => formatRow(branch, branch === selected))];
}

/** Formats the rows of branches of which none is selected, each with the branch's name. */
export function formatBranchRows(branches: readonly EvaluatedBranch[]): readonly (readonly string[])[] {
  const rows = branches.map((branch) => [...formatRow(branch, false).slice(1), branch.branch ?? "-"]);
  return [[...HEADINGS.slice(1), "branch"], ...rows];
}

function formatRow(branch: EvaluatedBranch, isChosen: boolean): readonly string[] {
  const { agentName, model, status, turns, usage, costUsd } = branch;
  return [
    isChosen ? "*" : "",
    shortenText(agentName, 30),
    shortenText(model, 30),
    status.type,
    String(turns),
    String(usage.totalTokens),
    formatDollars(costUsd),
    formatSeconds(branch),
  ];
}

function formatSeconds({ startedAtMs, endedAtMs }: EvaluatedBranch): string {
  if (startedAtMs === undefined || endedAtMs === undefined) return "-";
  return ((endedAtMs - startedAtMs) / 1000).toFixed(1);
}
