import { sumCosts } from "../core/budget/usage.ts";
import { totalUsage } from "../core/evaluation/branch-outcome.ts";
import type { DecidedDigest, OpenEvaluation } from "../core/evaluation/digest.ts";
import type { EvaluationRequest, ExplorationResult } from "./evaluation-input.ts";
import { messageFrom } from "./input.ts";
import { orFailed } from "./result.ts";

// Branches from one place side by side, of which none is chosen.

/** Where all begin, and what each is asked. */
export function placed({ at, prompts }: EvaluationRequest): Pick<OpenEvaluation, "at" | "prompts"> {
  const nowMs = Date.now();
  return {
    ...(at === undefined ? {} : { at }),
    ...(prompts === undefined
      ? {}
      : { prompts: prompts.map((words) => (words === null ? null : (messageFrom(words, nowMs) ?? null))) }),
  };
}

export function keptResult(session: string, decided: DecidedDigest, branch: string): ExplorationResult {
  const { decision, branches, evaluationUsage, outcome } = decided;
  const result: ExplorationResult = {
    session,
    outcome,
    branch,
    decision,
    branches,
    usage: totalUsage(branches, evaluationUsage),
    costUsd: sumCosts(branches.map(({ costUsd }) => costUsd)),
  };
  return orFailed(result);
}
