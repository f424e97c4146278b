import { CancelledFailure } from "@temporalio/activity";
import { z } from "zod";
import { judgeMaterial } from "../../conversation/evaluation/judge-material.ts";
import { customDecision } from "../../conversation/evaluation/strategies.ts";
import { NO_USAGE } from "../../core/budget/usage.ts";
import { fallback } from "../../core/evaluation/decision.ts";
import type { DecideEvaluation } from "../../core/evaluation/digest.ts";
import type { EvaluatedResponse, EvaluationAsked } from "../../hooks/evaluation-strategy.ts";
import { askWithin } from "../../hooks/time-limit.ts";
import { shownBriefly } from "../../platform/text/redact.ts";
import { Usage } from "../../schema/message.ts";
import type { Dependencies } from "../dependencies.ts";
import { checkNames } from "../step/known-names.ts";
import type { Costly } from "./decide.ts";
import { type ReadBranch, readContext } from "./evaluated.ts";

/** The step that asks ends after five minutes, and has to write besides. */
const STRATEGY_TIMEOUT_MS = 4 * 60_000;

/** Of what it threw, in bytes: the reason stands in history. */
const MESSAGE_BYTES = 160;

const Choice = z.object({
  selected: z.unknown(),
  usage: Usage.optional(),
  costUsd: z.number().nonnegative().nullable().optional(),
});

/** Asks a registered strategy (PAR-04). What it gives that is no choice leaves it to the fallback. */
export async function chosenByApplication(
  name: string,
  session: string,
  input: DecideEvaluation,
  branches: readonly ReadBranch[],
  { transcript, evaluations }: Pick<Dependencies, "transcript" | "evaluations">,
  signal: AbortSignal,
): Promise<Costly> {
  checkNames(evaluations.what, [name], evaluations.names);
  const strategy = evaluations.get(name);
  const { context, prompts } = await readContext(session, input, transcript);
  const asked: Omit<EvaluationAsked, "signal"> = {
    query: judgeMaterial(context, prompts, []).query,
    context: structuredClone(context),
    responses: branches.map((branch, index) => responseOf(branch, input, index)),
  };
  const answer = await askWithin<unknown>((within) => strategy?.({ ...asked, signal: within }), {
    signal,
    timeoutMs: STRATEGY_TIMEOUT_MS,
  });
  if (signal.aborted) throw new CancelledFailure("CANCELLED");
  const outcomes = branches.map(({ outcome }) => outcome);
  if (answer.type === "failed") {
    const why = `Strategy "${name}" failed: ${shownBriefly(answer.message, MESSAGE_BYTES)}.`;
    return { decision: fallback(outcomes, why), evaluationUsage: NO_USAGE, evaluationCostUsd: 0 };
  }
  const choice = Choice.safeParse(answer.value);
  return {
    decision: customDecision(name, outcomes, choice.success ? choice.data.selected : answer.value),
    evaluationUsage: choice.data?.usage ?? NO_USAGE,
    evaluationCostUsd: choice.data?.costUsd === undefined ? 0 : choice.data.costUsd,
  };
}

function responseOf(
  { outcome, own, text, turns, costUsd }: ReadBranch,
  { branches }: DecideEvaluation,
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
