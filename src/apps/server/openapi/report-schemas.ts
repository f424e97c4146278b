import { z } from "zod";
import { Usage } from "../../../schema/message.ts";
import { Scorer } from "../../../schema/scorer.ts";
import { SuiteConfiguration } from "../../../schema/suite.ts";

// The parts of a report on a run of a suite, for the OpenAPI document.

const count = z.number().int().nonnegative();
const configurationName = z.string().describe("The name of a configuration.");
const scoreName = z.string().describe("The name of the score.");
const scorerType = z
  .enum(Scorer.options.map((option) => option.shape.type.value))
  .describe("The type of the scorer.");
const dollars = z.number().nullable();
const statistic = z.number().nullable();

const interval = {
  low: z.number().describe("The lower end."),
  high: z.number().describe("The upper end."),
  confidence: z
    .number()
    .describe("The share of repeated experiments whose interval contains the true value."),
};

/** What cells have come to, in all or for one configuration. */
export const totals = {
  cells: count.describe("The number of cells."),
  finished: count.describe("The cells that have a result, and all scores."),
  failed: count.describe("The cells that have failed."),
  pending: count.describe("The cells that are not asked or scored yet."),
  costUsd: dollars.describe(
    "US dollars of all results and scorers, failed cells included; `null` if the cost of any is unknown.",
  ),
  tokens: Usage.describe("The tokens of all results."),
  paidAnswers: count.describe("The answers that a vendor was paid for."),
  storedAnswers: count.describe("The answers that were taken from the store."),
};

const passRates = z
  .array(
    z.looseObject({
      k: count.describe("The number of attempts."),
      value: z.number().describe("The rate, as a mean over cases."),
      cases: count.describe("The cases that have at least `k` verdicts: others are no part of the mean."),
    }),
  )
  .optional();

const ScoreSummary = z.looseObject({
  name: scoreName,
  type: scorerType,
  count: count.describe("The cells that have a score: the numbers are about them."),
  missing: count.describe("The cells that have none."),
  mean: statistic.describe("The mean; `null` without a score."),
  median: statistic.describe("The median; `null` without a score."),
  interval: z
    .looseObject({
      ...interval,
      method: z.enum(["wilson", "clustered", "bca", "t"]).describe("How the interval was computed."),
    })
    .nullable()
    .describe("The interval of the mean; `null` if there are too few scores."),
  passed: count
    .optional()
    .describe("The cells that have passed; absent if the scorer does not tell success from failure."),
  passAtK: passRates.describe("How often at least one of `k` attempts passes."),
  passHatK: passRates.describe("How often all of `k` attempts pass."),
  unreadable: count.describe("The cells whose verdict could not be read."),
  failed: count.describe("The cells whose scorer has failed."),
  unscorable: count.describe("The cells that lack what the scorer needs."),
});

export const ConfigurationReport = z.looseObject({
  name: configurationName,
  agent: SuiteConfiguration.shape.agentName,
  model: SuiteConfiguration.shape.model,
  parameters: SuiteConfiguration.shape.parameters,
  ...totals,
  outcomes: z
    .record(z.string(), count)
    .describe("Finished cells by outcome, such as `answered`, and failed cells by class."),
  failures: z.record(z.string(), count).describe("Failed cells by class."),
  meanTurns: statistic.describe("The mean turns of finished cells; `null` without one."),
  medianDurationMs: statistic.describe(
    "The median time of finished cells in milliseconds; `null` without one.",
  ),
  scores: z.array(ScoreSummary).describe("In the order of the scorers."),
});

export const ScoreComparison = z.looseObject({
  score: scoreName,
  type: scorerType,
  a: configurationName,
  b: configurationName.describe("The name of the configuration that is compared with `a`."),
  pairs: count.describe("The cases that have a score of both."),
  unpairedA: count.describe("The cases that have a score of `a` only: they are no part of the comparison."),
  unpairedB: count.describe("The cases that have a score of `b` only: they are no part of the comparison."),
  difference: statistic.describe("The mean difference, `b` minus `a`; `null` without pairs."),
  interval: z.looseObject(interval).nullable().describe("The interval of the difference."),
  test: z.string().nullable().describe("The statistical test; `null` for fewer than two pairs."),
  pValue: statistic.describe("The p-value of the test."),
  adjustedPValue: statistic.describe(
    "The p-value after Holm's adjustment for all comparisons of the report.",
  ),
  mcnemar: z
    .looseObject({
      onlyA: count.describe("The cases that only `a` has passed."),
      onlyB: count.describe("The cases that only `b` has passed."),
      pValue: z.number().describe("The p-value of McNemar's exact test."),
    })
    .optional()
    .describe("For verdicts without repetitions."),
  effectSize: statistic.describe("Cohen's d_z; `null` if all differences are the same."),
  verdict: z
    .enum(["better", "worse", "no difference shown"])
    .describe("What is shown of `b`, at an adjusted p-value below 0.05."),
});
