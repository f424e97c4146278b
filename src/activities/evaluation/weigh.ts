import { judgeBudget } from "../../conversation/evaluation/fit-material.ts";
import { decisionWithoutJudge, judgedBranches } from "../../conversation/evaluation/judge-decision.ts";
import { judgeMaterial } from "../../conversation/evaluation/judge-material.ts";
import { fittedJudgePrompt } from "../../conversation/evaluation/judge-prompt.ts";
import { amountsOf } from "../../core/budget/amounts.ts";
import type { WeighEvaluation, WeighedDigest } from "../../core/evaluation/digest.ts";
import type { Dependencies } from "../dependencies.ts";
import { asFailure } from "../step/failure.ts";
import { currentStep } from "../step/step.ts";
import { type ReadBranch, readBranches, readContext } from "./evaluated.ts";

/** Writes down what the judge is asked (PAR-07 to PAR-12), as a text of the transcript; nothing where it need not be. */
export async function weigh(input: WeighEvaluation, dependencies: Dependencies): Promise<WeighedDigest> {
  const { transcript } = dependencies;
  const step = currentStep(input, dependencies.process);
  try {
    const branches = await readBranches(step.session, input, dependencies);
    const used = input.lost.map((index) => usedBy(branches[index]));
    const outcomes = branches.map(({ outcome }) => outcome);
    const question =
      decisionWithoutJudge(outcomes) === undefined
        ? await ask(step.session, input, judgedBranches(outcomes), branches, dependencies)
        : undefined;
    const { result } = await transcript.store({
      step,
      loopId: "",
      branch: "",
      base: 0,
      atMs: Date.now(),
      outbox: { entries: [], events: [] },
      entries: [],
      result: { used, ...(question === undefined ? {} : { question }) } satisfies WeighedDigest,
    });
    return result as WeighedDigest;
  } catch (error) {
    throw asFailure(error);
  }
}

async function ask(
  session: string,
  input: WeighEvaluation,
  judged: readonly number[],
  branches: readonly ReadBranch[],
  { transcript, definitions, log }: Dependencies,
): Promise<string> {
  const { context, prompts } = await readContext(session, input, transcript);
  const responses = judged.map((index) => branches[index]?.text ?? "");
  const judge = await definitions.byHash(input.judgeHash);
  const { prompt, warning } = fittedJudgePrompt(
    judgeMaterial(context, prompts, responses),
    judgeBudget(judge.context),
  );
  if (warning !== undefined) {
    await transcript.warnOfEvaluation(input.evaluation, warning);
    log.warn({ session, evaluation: input.evaluation }, warning);
  }
  return await transcript.putText(prompt, Date.now());
}

function usedBy(branch: ReadBranch | undefined) {
  const { outcome, turns = 0, costUsd = 0 } = branch ?? {};
  const { input = 0, output = 0 } = outcome?.usage ?? {};
  return amountsOf({ turns, tokens: input + output, costUsd });
}
