import { Context } from "@temporalio/activity";
import { allKept, type Decision, fallback } from "../core/evaluation/decision.ts";
import type {
  BranchEnd,
  DecidedDigest,
  DecideEvaluation,
  EvaluatedBranch,
} from "../core/evaluation/digest.ts";
import { decisionWithoutJudge, judgeDecision } from "../core/evaluation/judge-decision.ts";
import { choose } from "../core/evaluation/strategies.ts";
import { type Cost, NO_USAGE } from "../core/usage.ts";
import type { Usage } from "../schema/message.ts";
import type { Outcome } from "../schema/record.ts";
import { chosenByApplication } from "./chosen-by-application.ts";
import type { Dependencies } from "./dependencies.ts";
import { type ReadBranch, readBranches } from "./evaluated.ts";
import { asFailure } from "./failure.ts";
import { currentStep } from "./step.ts";
import { closedDigest, STATUS_OF_OUTCOME } from "./write-steps.ts";

/** A decision with what it has cost to come to it. */
export type Costly = {
  readonly decision: Decision;
  readonly evaluationUsage: Usage;
  /** `null` when the price of the judge's model is unknown. */
  readonly evaluationCostUsd: Cost;
};

/** Chooses a branch, closes the group's record, and takes the session's head along: all in one commit. */
export async function decide(input: DecideEvaluation, dependencies: Dependencies): Promise<DecidedDigest> {
  const { transcript } = dependencies;
  const step = currentStep(input, dependencies.process);
  try {
    const branches = await readBranches(step.session, input, dependencies);
    const costly = await decision(step.session, input, branches, dependencies);
    const chosen = branches[costly.decision.selected];
    const shown = input.strategy.type === "keep" ? branchToShow(branches) : costly.decision.selected;
    const outcome: Outcome =
      input.stopped === undefined
        ? outcomeOf(branches[shown], input.ends[shown])
        : { type: "stopped", reason: input.stopped };
    const digest: DecidedDigest = {
      ...costly,
      branches: branches.map((branch, index) => evaluated(branch, input, index)),
      outcome,
      ...(await lastWords(chosen, dependencies)),
    };
    const selectedLoopId = chosen?.loop?.loopId;
    return (await transcript.closeEvaluation({
      step,
      evaluation: input.evaluation,
      atMs: Date.now(),
      decision: costly.decision,
      loopIds: branches.map(({ loop }, index) => loop?.loopId ?? input.ends[index]?.loopId ?? ""),
      ...(selectedLoopId === undefined ? {} : { selectedLoopId }),
      evaluationUsage: costly.evaluationUsage,
      status: STATUS_OF_OUTCOME[outcome.type],
      result: digest,
    })) as DecidedDigest;
  } catch (error) {
    throw asFailure(error);
  }
}

const FREE = { evaluationUsage: NO_USAGE, evaluationCostUsd: 0 };

async function decision(
  session: string,
  input: DecideEvaluation,
  branches: readonly ReadBranch[],
  dependencies: Dependencies,
): Promise<Costly> {
  const outcomes = branches.map(({ outcome }) => outcome);
  const { strategy, stopped, judge } = input;
  if (strategy.type === "keep") return { ...FREE, decision: allKept(outcomes) };
  if (strategy.type === "judge" && judge !== undefined) {
    return await judgedBy(session, input, judge, branches, dependencies);
  }
  if (stopped !== undefined) {
    return { ...FREE, decision: fallback(outcomes, `The evaluation was stopped: ${stopped}.`) };
  }
  if (strategy.type === "custom") {
    const { cancellationSignal } = Context.current();
    const { name = "" } = strategy;
    return await chosenByApplication(name, session, input, branches, dependencies, cancellationSignal);
  }
  if (strategy.type === "judge") {
    const without = decisionWithoutJudge(outcomes) ?? fallback(outcomes, "The judge was not asked.");
    return { ...FREE, decision: without };
  }
  return { ...FREE, decision: choose(strategy.type, outcomes) };
}

async function judgedBy(
  session: string,
  { at }: DecideEvaluation,
  end: BranchEnd,
  branches: readonly ReadBranch[],
  dependencies: Dependencies,
): Promise<Costly> {
  const asked = { at: { ...at, position: 0 }, ends: [end] };
  const [judge] = await readBranches(session, asked, dependencies);
  const reply = { status: judge?.outcome.status ?? end.status, text: judge?.text ?? "" };
  return {
    decision: judgeDecision(
      branches.map(({ outcome }) => outcome),
      reply,
    ),
    evaluationUsage: judge?.outcome.usage ?? NO_USAGE,
    evaluationCostUsd: judge === undefined ? 0 : judge.costUsd,
  };
}

function evaluated(
  { outcome, loop, turns, costUsd }: ReadBranch,
  { branches }: DecideEvaluation,
  index: number,
): EvaluatedBranch {
  return {
    ...outcome,
    agentName: branches[index]?.agentName ?? "",
    model: branches[index]?.model ?? "",
    turns,
    costUsd,
    ...(loop === undefined ? {} : { startedAtMs: loop.startedAtMs }),
    ...(loop?.endedAtMs === undefined ? {} : { endedAtMs: loop.endedAtMs }),
  };
}

/** Where none is chosen, an answer of one is how all of it has ended. */
function branchToShow(branches: readonly ReadBranch[]): number {
  return Math.max(
    0,
    branches.findIndex(({ outcome }) => outcome.status.type === "answered"),
  );
}

/** Of the chosen branch; of one that never came to an end, what its workflow was told. */
function outcomeOf(chosen: ReadBranch | undefined, end: BranchEnd | undefined): Outcome {
  if (chosen?.loop?.outcome !== undefined) return chosen.loop.outcome;
  const status = end?.status;
  if (status === undefined || status.type === "answered") {
    return { type: "failed", fault: "evaluation", message: "The record does not hold the chosen branch" };
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

/** As the result of the branch's own run would have them. */
async function lastWords(
  chosen: ReadBranch | undefined,
  { definitions }: Pick<Dependencies, "definitions">,
): Promise<Pick<DecidedDigest, "text" | "position" | "json">> {
  const last = chosen?.own.findLast(({ message }) => message.role === "assistant");
  if (chosen?.loop === undefined || last === undefined) return {};
  const { output } = await definitions.byHash(chosen.loop.definitionHash);
  const isOutput = chosen.loop.outcome?.type === "answered";
  const { branch: _, ...said } = closedDigest(last.message, last.position, isOutput ? output : undefined);
  return said as Pick<DecidedDigest, "text" | "position" | "json">;
}
