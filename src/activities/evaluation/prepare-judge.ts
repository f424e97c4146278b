import { computeJudgeBudget } from "../../conversation/evaluation/fit-material.ts";
import { decideWithoutJudge, listJudgedBranches } from "../../conversation/evaluation/judge-decision.ts";
import { buildJudgeMaterial } from "../../conversation/evaluation/judge-material.ts";
import { buildFittedJudgePrompt } from "../../conversation/evaluation/judge-prompt.ts";
import { toAmounts } from "../../core/budget/amounts.ts";
import type { JudgeDigest, PrepareJudgeCommand } from "../../core/evaluation/evaluation-digest.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Dependencies } from "../dependencies.ts";
import { toFailure } from "../step/failure.ts";
import { getCurrentStep } from "../step/step.ts";
import { type ReadBranch, readBranches, readContext } from "./read-branches.ts";

/** Stores the judge's prompt (PAR-07 to PAR-12) as a text of the transcript, if a judge is needed. */
export async function prepareJudge(
  input: PrepareJudgeCommand,
  dependencies: Dependencies,
): Promise<JudgeDigest> {
  const { transcript } = dependencies;
  const step = getCurrentStep(input, dependencies.process);
  try {
    const branches = await readBranches(step.session, input, dependencies);
    const used = input.lostBranches.map((index) => sumBranchAmounts(branches[index]));
    const outcomes = branches.map(({ outcome }) => outcome);
    const question =
      decideWithoutJudge(outcomes) === undefined
        ? await buildQuestion(step.session, input, listJudgedBranches(outcomes), branches, dependencies)
        : undefined;
    const { result } = await transcript.store({
      step,
      loopId: "",
      branch: "",
      base: 0,
      atMs: Date.now(),
      outbox: { entries: [], events: [] },
      entries: [],
      result: { lostUsage: used, ...omitUndefined({ question }) } satisfies JudgeDigest,
    });
    return result as JudgeDigest;
  } catch (error) {
    throw toFailure(error);
  }
}

async function buildQuestion(
  session: string,
  input: PrepareJudgeCommand,
  judged: readonly number[],
  branches: readonly ReadBranch[],
  { transcript, definitions, log }: Dependencies,
): Promise<string> {
  const { context, prompts } = await readContext(session, input, transcript);
  const responses = judged.map((index) => branches[index]?.text ?? "");
  const judge = await definitions.read(input.judgeHash);
  const { prompt, warning } = buildFittedJudgePrompt(
    buildJudgeMaterial(context, prompts, responses),
    computeJudgeBudget(judge.context),
  );
  if (warning !== undefined) {
    await transcript.setEvaluationWarning(input.evaluation, warning);
    log.warn({ session, evaluation: input.evaluation }, warning);
  }
  return await transcript.putText(prompt, Date.now());
}

function sumBranchAmounts(branch: ReadBranch | undefined) {
  const { outcome, turns = 0, costUsd = 0 } = branch ?? {};
  const { input = 0, output = 0 } = outcome?.usage ?? {};
  return toAmounts({ turns, tokens: input + output, costUsd });
}
