import { CancelledFailure } from "@temporalio/activity";
import { z } from "zod";
import { buildJudgeMaterial } from "../../conversation/evaluation/judge-material.ts";
import { checkCustomChoice } from "../../conversation/evaluation/strategies.ts";
import { NO_USAGE } from "../../core/budget/usage.ts";
import { buildFallbackDecision } from "../../core/evaluation/decision.ts";
import type { SelectBranchCommand } from "../../core/evaluation/evaluation-digest.ts";
import type { EvaluatedResponse, EvaluationStrategyRequest } from "../../hooks/evaluation-strategy.ts";
import { askWithTimeout } from "../../hooks/time-limit.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import { Usage } from "../../schema/message.ts";
import type { Dependencies } from "../dependencies.ts";
import { checkNames } from "../step/check-names.ts";
import { type ReadBranch, readContext } from "./read-branches.ts";
import type { DecisionWithCost } from "./select-branch.ts";

/** The step that calls the strategy ends after five minutes, and needs time to write. */
const STRATEGY_TIMEOUT_MS = 4 * 60_000;

/** The most bytes of a thrown message, because the reason is stored in history. */
const MESSAGE_BYTES = 160;

const Choice = z.object({
  selected: z.unknown(),
  usage: Usage.optional(),
  costUsd: z.number().nonnegative().nullable().optional(),
});

/** Calls a registered strategy (PAR-04). A result that is no choice leaves the choice to the fallback. */
export async function askCustomStrategy(
  name: string,
  session: string,
  input: SelectBranchCommand,
  branches: readonly ReadBranch[],
  { transcript, evaluations }: Pick<Dependencies, "transcript" | "evaluations">,
  signal: AbortSignal,
): Promise<DecisionWithCost> {
  checkNames(evaluations.label, [name], evaluations.names);
  const strategy = evaluations.get(name);
  const { context, prompts } = await readContext(session, input, transcript);
  const asked: Omit<EvaluationStrategyRequest, "signal"> = {
    query: buildJudgeMaterial(context, prompts, []).query,
    context: structuredClone(context),
    responses: branches.map((branch, index) => buildResponse(branch, input, index)),
  };
  const answer = await askWithTimeout<unknown>((within) => strategy?.({ ...asked, signal: within }), {
    signal,
    timeoutMs: STRATEGY_TIMEOUT_MS,
  });
  if (signal.aborted) throw new CancelledFailure("CANCELLED");
  const outcomes = branches.map(({ outcome }) => outcome);
  if (answer.type === "failed") {
    const reason = `Strategy "${name}" failed: ${redactPreview(answer.message, MESSAGE_BYTES)}.`;
    return {
      decision: buildFallbackDecision(outcomes, reason),
      evaluationUsage: NO_USAGE,
      evaluationCostUsd: 0,
    };
  }
  const choice = Choice.safeParse(answer.value);
  return {
    decision: checkCustomChoice(name, outcomes, choice.success ? choice.data.selected : answer.value),
    evaluationUsage: choice.data?.usage ?? NO_USAGE,
    evaluationCostUsd: choice.data?.costUsd === undefined ? 0 : choice.data.costUsd,
  };
}

function buildResponse(
  { outcome, own, text, turns, costUsd }: ReadBranch,
  { branches }: SelectBranchCommand,
  index: number,
): EvaluatedResponse {
  return {
    index,
    agentName: branches[index]?.agentName ?? "",
    model: branches[index]?.model ?? "",
    status: outcome.status,
    usage: outcome.usage,
    turns,
    costUsd,
    text,
    messages: structuredClone(own.map(({ message }) => message)),
  };
}
