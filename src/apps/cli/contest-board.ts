import type { EvaluatedBranch, EvaluationOutcome, LoopEvent, WatchItem } from "../../client/index.ts";
import { dollars } from "../../core/budget/limits.ts";
import { shortened } from "./words.ts";

// Several branches at once, in lines: what each is doing now, and in the end a table of all.

type Line = { turns: number; tokens: number; tools: string };

/** Turns what is watched of an evaluation into a line for each step of a branch. */
export class ContestBoard {
  readonly #names = new Map<string, string>();
  readonly #lines = new Map<string, Line>();

  /** @returns What is worth a line, or nothing. */
  say(item: WatchItem): string | undefined {
    if (item.type === "group" && item.event.type === "ParallelLoopStart") {
      for (const [index, loopId] of item.event.loopIds.entries())
        this.#names.set(loopId, `branch ${index + 1}`);
      return undefined;
    }
    if (item.type === "group" && item.event.type === "ProgressMessage") return item.event.text;
    return item.type === "event" ? this.#event(item.event) : undefined;
  }

  #event({ loopId, body }: LoopEvent): string | undefined {
    const name = this.#names.get(loopId) ?? "judge";
    const line = this.#lines.get(loopId) ?? { turns: 0, tokens: 0, tools: "" };
    this.#lines.set(loopId, line);
    switch (body.type) {
      case "AgentStart":
        return `${name} has begun`;
      case "ToolExecutionStart":
        line.tools = body.toolName;
        return `${name} · turn ${line.turns + 1} · ${shortened(body.toolName, 60)}`;
      case "TurnEnd":
        line.turns += 1;
        line.tokens += body.usage.totalTokens;
        return `${name} · ${line.turns} turn${line.turns === 1 ? "" : "s"} · ${line.tokens} tokens`;
      case "AgentEnd":
        return `${name} is over: ${body.outcome.type}`;
      default:
        return undefined;
    }
  }
}

const HEAD = ["", "agent", "model", "status", "turns", "tokens", "cost", "seconds"] as const;

/** Rows of the table: all branches in the order of their configurations, the chosen one with a star. */
export function contestRows({ selected, losers }: EvaluationOutcome): readonly (readonly string[])[] {
  const branches = [selected, ...losers].sort((one, other) => one.index - other.index);
  return [HEAD, ...branches.map((branch) => row(branch, branch === selected))];
}

/** Rows of branches that are all kept, each with the name that it goes on under. */
export function branchRows(branches: readonly EvaluatedBranch[]): readonly (readonly string[])[] {
  const rows = branches.map((branch) => [...row(branch, false).slice(1), branch.branch ?? "-"]);
  return [[...HEAD.slice(1), "branch"], ...rows];
}

function row(branch: EvaluatedBranch, isChosen: boolean): readonly string[] {
  const { agentName, model, status, turns, usage, costUsd } = branch;
  return [
    isChosen ? "*" : "",
    shortened(agentName, 30),
    shortened(model, 30),
    status.type,
    String(turns),
    String(usage.totalTokens),
    dollars(costUsd),
    secondsOf(branch),
  ];
}

function secondsOf({ startedAtMs, endedAtMs }: EvaluatedBranch): string {
  if (startedAtMs === undefined || endedAtMs === undefined) return "-";
  return ((endedAtMs - startedAtMs) / 1000).toFixed(1);
}
