import { buildJudgeRequest } from "../../../evaluation/scorers/judge-request.ts";
import { readVerdict } from "../../../evaluation/scorers/judge-verdict.ts";
import type { Score } from "../../../schema/score.ts";
import type { ScorerOf } from "../../../schema/scorer.ts";
import type { ScorerContext } from "./scorer-context.ts";

/** Has a model grade the answer. What it has cost is part of the score, whether or not its verdict can be read. */
export async function scoreByJudge(
  scorer: ScorerOf<"judge">,
  { cell, dependencies: { definitions, ask } }: ScorerContext,
): Promise<Score> {
  const definition = await definitions.read(scorer.judge);
  const { answer, expected } = cell.subject;
  const judged = { answer, expected, input: cell.value.messages };
  const request = buildJudgeRequest(scorer, judged);
  const { text, costUsd } = await ask(definition, request);
  return { ...readVerdict(scorer, text), costUsd };
}
