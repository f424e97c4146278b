import type { LoadedSuite, RunComparison, SuiteReport } from "../../../client/index.ts";
import { LOWER_IS_BETTER } from "../../../schema/scorer.ts";
import { getScorerName } from "../../../schema/scorer-name.ts";
import { UsageError } from "../usage-error.ts";
import { formatScore } from "./score-text.ts";

/** A value that every configuration's mean of a score must reach. */
export type Threshold = { readonly score: string; readonly minimum: number };

/** Parses the values of `--fail-under`: `0.8` for the first scorer of the suite, or `NAME=0.8`. */
export function parseThresholds(
  typed: readonly string[],
  { scorers, name: suite }: Pick<LoadedSuite, "scorers" | "name">,
): readonly Threshold[] {
  const known = scorers.map(({ scorer }) => ({ score: getScorerName(scorer), type: scorer.type }));
  return typed.map((text) => {
    const [, named, number = ""] = /^(?:(.+)=)?(.+)$/.exec(text) ?? [];
    const minimum = Number(number.trim() === "" ? Number.NaN : number);
    if (!Number.isFinite(minimum))
      throw new UsageError(`--fail-under "${text}" must be a number such as 0.8, or NAME=0.8`);
    if (known.length === 0)
      throw new UsageError(`--fail-under needs a score, and the suite ${suite} has no scorers.`);
    const scorer = named === undefined ? known[0]! : known.find(({ score }) => score === named);
    if (scorer === undefined) {
      const names = known.map(({ score }) => score).join(", ");
      throw new UsageError(
        `--fail-under "${text}": the suite ${suite} has no score ${named}. It has ${names}.`,
      );
    }
    if (LOWER_IS_BETTER.has(scorer.type))
      throw new UsageError(`--fail-under "${text}": of ${scorer.score}, a lower value is the better one.`);
    return { score: scorer.score, minimum };
  });
}

/** Describes each configuration whose mean is below a threshold, or that has no score to compare with it. */
export function findMissedThresholds(
  thresholds: readonly Threshold[],
  { configurations }: Pick<SuiteReport, "configurations">,
): readonly string[] {
  return thresholds.flatMap(({ score, minimum }) =>
    configurations.flatMap(({ name, scores }) => {
      const summary = scores.find((one) => one.name === score);
      if (summary === undefined || summary.mean === null)
        return [`${name}: there is no ${score} to compare with ${minimum}`];
      // The text is rounded, and could be equal to the minimum.
      return summary.mean < minimum
        ? [`${name}: ${score} is ${Number(summary.mean.toPrecision(6))}, below ${minimum}`]
        : [];
    }),
  );
}

/** Describes each score of a configuration that is worse than in the earlier run, at an adjusted p-value below 0.05. */
export function findRegressions({ comparisons }: RunComparison): readonly string[] {
  return comparisons
    .filter(({ verdict }) => verdict === "worse")
    .map(({ b, score, type, difference, adjustedPValue }) => {
      const by = formatScore(type, Math.abs(difference ?? 0));
      return `${b}: ${score} is worse by ${by} (adjusted p ${formatPValue(adjustedPValue)})`;
    });
}

/** Formats a p-value; a small one as a bound, never as 0. */
export function formatPValue(value: number | null): string {
  if (value === null) return "-";
  return value < 0.001 ? "<0.001" : value.toFixed(3);
}
