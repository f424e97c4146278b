import { Context } from "@temporalio/activity";
import { decideWithoutJudge, parseJudgeReply } from "../../conversation/evaluation/judge-decision.ts";
import { chooseBranch } from "../../conversation/evaluation/strategies.ts";
import { type Cost, NO_USAGE } from "../../core/budget/usage.ts";
import {
  buildFallbackDecision,
  buildKeepAllDecision,
  type Decision,
} from "../../core/evaluation/decision.ts";
import type {
  BranchEnd,
  EvaluatedBranch,
  SelectBranchCommand,
  SelectedBranchDigest,
} from "../../core/evaluation/evaluation-digest.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Usage } from "../../schema/message.ts";
import type { Outcome } from "../../schema/record.ts";
import { buildClosedDigest, STATUS_OF_OUTCOME } from "../close-loop/write-steps.ts";
import type { Dependencies } from "../dependencies.ts";
import { toFailure } from "../step/failure.ts";
import { getCurrentStep } from "../step/step.ts";
import { askCustomStrategy } from "./custom-selection.ts";
import { type ReadBranch, readBranches } from "./read-branches.ts";

/** A decision with the cost of making it. */
export type DecisionWithCost = {
  readonly decision: Decision;
  readonly evaluationUsage: Usage;
  /** `null` when the price of the judge's model is unknown. */
  readonly evaluationCostUsd: Cost;
};

/** Chooses a branch, closes the group's record, and moves the session's head, all in one commit. */
export async function selectBranch(
  input: SelectBranchCommand,
  dependencies: Dependencies,
): Promise<SelectedBranchDigest> {
  const { transcript } = dependencies;
  const step = getCurrentStep(input, dependencies.process);
  try {
    const branches = await readBranches(step.session, input, dependencies);
    const costly = await makeDecision(step.session, input, branches, dependencies);
    const chosen = branches[costly.decision.selected];
    const shown = input.strategy.type === "keep" ? findReportedBranch(branches) : costly.decision.selected;
    const outcome: Outcome =
      input.stopReason === undefined
        ? getOutcome(branches[shown], input.ends[shown])
        : { type: "stopped", reason: input.stopReason };
    const digest: SelectedBranchDigest = {
      ...costly,
      branches: branches.map((branch, index) => toEvaluatedBranch(branch, input, index)),
      outcome,
      ...(await getLastAnswer(chosen, dependencies)),
    };
    const selectedLoopId = chosen?.loop?.loopId;
    return (await transcript.closeEvaluation({
      step,
      evaluation: input.evaluation,
      atMs: Date.now(),
      decision: costly.decision,
      loopIds: branches.map(({ loop }, index) => loop?.loopId ?? input.ends[index]?.loopId ?? ""),
      ...omitUndefined({ selectedLoopId }),
      evaluationUsage: costly.evaluationUsage,
      status: STATUS_OF_OUTCOME[outcome.type],
      result: digest,
    })) as SelectedBranchDigest;
  } catch (error) {
    throw toFailure(error);
  }
}

const NO_COST = { evaluationUsage: NO_USAGE, evaluationCostUsd: 0 };

async function makeDecision(
  session: string,
  input: SelectBranchCommand,
  branches: readonly ReadBranch[],
  dependencies: Dependencies,
): Promise<DecisionWithCost> {
  const outcomes = branches.map(({ outcome }) => outcome);
  const { strategy, stopReason, judge } = input;
  if (strategy.type === "keep") return { ...NO_COST, decision: buildKeepAllDecision(outcomes) };
  if (strategy.type === "judge" && judge !== undefined) {
    return await decideByJudge(session, input, judge, branches, dependencies);
  }
  if (stopReason !== undefined) {
    return {
      ...NO_COST,
      decision: buildFallbackDecision(outcomes, `The evaluation was stopped: ${stopReason}.`),
    };
  }
  if (strategy.type === "custom") {
    const { cancellationSignal } = Context.current();
    const { name = "" } = strategy;
    return await askCustomStrategy(name, session, input, branches, dependencies, cancellationSignal);
  }
  if (strategy.type === "judge") {
    const without =
      decideWithoutJudge(outcomes) ?? buildFallbackDecision(outcomes, "The judge was not asked.");
    return { ...NO_COST, decision: without };
  }
  return { ...NO_COST, decision: chooseBranch(strategy.type, outcomes) };
}

async function decideByJudge(
  session: string,
  { at }: SelectBranchCommand,
  end: BranchEnd,
  branches: readonly ReadBranch[],
  dependencies: Dependencies,
): Promise<DecisionWithCost> {
  const asked = { at: { ...at, position: 0 }, ends: [end] };
  const [judge] = await readBranches(session, asked, dependencies);
  const reply = { status: judge?.outcome.status ?? end.status, text: judge?.text ?? "" };
  return {
    decision: parseJudgeReply(
      branches.map(({ outcome }) => outcome),
      reply,
    ),
    evaluationUsage: judge?.outcome.usage ?? NO_USAGE,
    evaluationCostUsd: judge === undefined ? 0 : judge.costUsd,
  };
}

function toEvaluatedBranch(
  { outcome, loop, turns, costUsd }: ReadBranch,
  { branches }: SelectBranchCommand,
  index: number,
): EvaluatedBranch {
  return {
    ...outcome,
    agentName: branches[index]?.agentName ?? "",
    model: branches[index]?.model ?? "",
    turns,
    costUsd,
    ...omitUndefined({ startedAtMs: loop?.startedAtMs, endedAtMs: loop?.endedAtMs }),
  };
}

/** Finds a branch that answered, whose outcome becomes the outcome of an exploration. */
function findReportedBranch(branches: readonly ReadBranch[]): number {
  return Math.max(
    0,
    branches.findIndex(({ outcome }) => outcome.status.type === "answered"),
  );
}

/**
 * Returns the outcome of the chosen branch. For a branch without an end in the record, this is what its workflow
 * reported.
 */
function getOutcome(chosen: ReadBranch | undefined, end: BranchEnd | undefined): Outcome {
  if (chosen?.loop?.outcome !== undefined) return chosen.loop.outcome;
  const status = end?.status;
  if (status === undefined || status.type === "answered") {
    return { type: "failed", fault: "evaluation", message: "The record does not contain the chosen branch" };
  }
  const { reason } = status;
  switch (status.type) {
    case "over-budget":
      return { type: "limit-reached", reason };
    case "stopped":
      return { type: "stopped", reason };
    case "failed":
      return { type: "failed", fault: "evaluation", message: reason };
  }
}

/** Returns the last answer as the result of the branch's own run contains it. */
async function getLastAnswer(
  chosen: ReadBranch | undefined,
  { definitions }: Pick<Dependencies, "definitions">,
): Promise<Pick<SelectedBranchDigest, "text" | "position" | "json">> {
  const last = chosen?.own.findLast(({ message }) => message.role === "assistant");
  if (chosen?.loop === undefined || last === undefined) return {};
  const { output } = await definitions.read(chosen.loop.definitionHash);
  const isOutput = chosen.loop.outcome?.type === "answered";
  const { branch: _, ...answerFields } = buildClosedDigest(
    last.message,
    last.position,
    isOutput ? output : undefined,
  );
  return answerFields as Pick<SelectedBranchDigest, "text" | "position" | "json">;
}
