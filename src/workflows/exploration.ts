import { sumCosts } from "../core/budget/usage.ts";
import { sumUsage } from "../core/evaluation/branch-outcome.ts";
import type { OpenEvaluationCommand, SelectedBranchDigest } from "../core/evaluation/evaluation-digest.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { EvaluationRequest, ExplorationResult } from "./evaluation-input.ts";
import { toInboundMessage } from "./run-input.ts";
import { throwIfFailed } from "./run-result.ts";

// Explorations: branches from one position side by side, of which none is chosen.

/** Returns where all branches begin, and their prompts. */
export function getBranchStarts({
  at,
  prompts,
}: EvaluationRequest): Pick<OpenEvaluationCommand, "at" | "prompts"> {
  const nowMs = Date.now();
  return {
    ...omitUndefined({ at }),
    ...(prompts === undefined
      ? {}
      : {
          prompts: prompts.map((input) => (input === null ? null : (toInboundMessage(input, nowMs) ?? null))),
        }),
  };
}

export function buildExplorationResult(
  session: string,
  decided: SelectedBranchDigest,
  { branch, startedAtMs }: { readonly branch: string; readonly startedAtMs: number },
): ExplorationResult {
  const { decision, branches, evaluationUsage, outcome } = decided;
  const result: ExplorationResult = {
    session,
    outcome,
    branch,
    decision,
    branches,
    usage: sumUsage(branches, evaluationUsage),
    costUsd: sumCosts(branches.map(({ costUsd }) => costUsd)),
    turns: branches.reduce((sum, { turns }) => sum + turns, 0),
    durationMs: Date.now() - startedAtMs,
  };
  return throwIfFailed(result);
}
