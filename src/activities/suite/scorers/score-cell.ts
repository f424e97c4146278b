import { CancelledFailure } from "@temporalio/activity";
import { toFailed } from "../../../evaluation/scorers/outcome.ts";
import { createMask, type Mask } from "../../../models/secret-masks.ts";
import { assertNever } from "../../../platform/text/assert-never.ts";
import { redact } from "../../../platform/text/redact.ts";
import { truncateText } from "../../../platform/text/truncate-text.ts";
import type { Score } from "../../../schema/score.ts";
import type { Scorer } from "../../../schema/scorer.ts";
import type { ScoredBy } from "../../../store/transcript/suites.ts";
import { scoreCommand } from "./command.ts";
import { scoreCustom } from "./custom.ts";
import { scoreFiles } from "./files.ts";
import { scoreByJudge } from "./judge.ts";
import { scorePlain } from "./plain.ts";
import type { ScoredCell, ScorerContext, ScorerDependencies } from "./scorer-context.ts";

/** A scorer, and the digest by which its scores are stored. */
export type DigestedScorer = { readonly digest: string; readonly scorer: Scorer };

const MAX_EXPLANATION_CHARS = 500;

/** What is read of an explanation to find secrets in it, in characters. */
const READ_CHARS = 64 * 1024;

/**
 * Scores a cell by all scorers, and returns the scores in their order. A scorer that throws has a failed score and does not
 * affect the others. Rejects only when it is cancelled.
 *
 * Commands run last, one after the other: they may change the workspace, which other scorers read.
 */
export async function scoreCell(
  { scorers, ...cell }: ScoredCell & { readonly scorers: readonly DigestedScorer[] },
  dependencies: ScorerDependencies,
  signal: AbortSignal,
): Promise<ScoredBy[]> {
  const mask = createMask(dependencies.secrets.knownValues?.() ?? []);
  const context: ScorerContext = { cell, dependencies, mask, signal };
  const scores = new Map<DigestedScorer, Score>();
  const commandsLast = [
    ...scorers.filter(({ scorer }) => scorer.type !== "command"),
    ...scorers.filter(({ scorer }) => scorer.type === "command"),
  ];
  for (const one of commandsLast) {
    const score = await runScorer(one.scorer, context);
    if (signal.aborted) throw new CancelledFailure("CANCELLED");
    scores.set(one, score);
  }
  return scorers.map((one) => ({ scorer: one.digest, score: scores.get(one) as Score }));
}

async function runScorer(scorer: Scorer, context: ScorerContext): Promise<Score> {
  try {
    return shortenExplanation(await chooseScore(scorer, context), context.mask);
  } catch (error) {
    return shortenExplanation(toFailed(error instanceof Error ? error.message : String(error)), context.mask);
  }
}

async function chooseScore(scorer: Scorer, context: ScorerContext): Promise<Score> {
  switch (scorer.type) {
    case "exact":
    case "includes":
    case "regex":
    case "numeric":
    case "json":
    case "edit-distance":
    case "tool-calls":
    case "cost":
    case "turns":
    case "time":
      return scorePlain(scorer, context.cell.subject);
    case "files":
      return await scoreFiles(scorer, context);
    case "command":
      return await scoreCommand(scorer, context);
    case "custom":
      return await scoreCustom(scorer, context);
    case "judge":
      return await scoreByJudge(scorer, context);
    default:
      return assertNever(scorer);
  }
}

function shortenExplanation(score: Score, mask: Mask): Score {
  const { explanation, ...rest } = score;
  if (explanation === undefined) return score;
  const text = redact(mask(explanation.slice(0, READ_CHARS)));
  return { ...rest, explanation: truncateText(text, MAX_EXPLANATION_CHARS) };
}
