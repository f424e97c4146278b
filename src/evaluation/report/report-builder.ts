import { addCosts, addUsage, NO_USAGE } from "../../core/budget/usage.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { LOWER_IS_BETTER, type Scorer } from "../../schema/scorer.ts";
import { getScorerName } from "../../schema/scorer-name.ts";
import type { SuitePlan } from "../../schema/suite.ts";
import { areVerdicts, computeCaseMeans } from "./case-means.ts";
import { type ComparedPair, comparePairs } from "./compare-pairs.ts";
import { ConfigurationTally } from "./configuration-tally.ts";
import type { ReportRow } from "./report-row.ts";
import { admitsBootstrap } from "./score-interval.ts";
import type { ScoreSeries } from "./score-table.ts";
import type { CellTotals, ReportFacts, SuiteReport } from "./suite-report.ts";

// Invariants
//   R1. A report does not depend on the order of the rows.
//   R2. A cell that is not finished has no part in a mean, an interval or a comparison.
//   R3. Two runs with the same answers have the same report, except for volatile fields.

/** The scores of a run by one scorer, for each configuration. */
type ScoreColumn = {
  readonly scorer: Scorer;
  readonly series: readonly ScoreSeries[];
  readonly isVerdict: boolean;
};

/** All pairs of up to this number of configurations are compared. Of more, each is compared with the first one. */
const MAX_COMPARED_PAIRWISE = 5;

/** Builds the report of a run from the rows of its cells, each added once. It keeps a few numbers of each row. */
export class ReportBuilder {
  readonly #plan: SuitePlan;
  readonly #tallies: readonly ConfigurationTally[];

  /** @param scorers - The digests of the plan's scorers, in their order. */
  constructor(plan: SuitePlan, scorers: readonly string[]) {
    if (scorers.length !== plan.scorers.length) {
      throw new RangeError(
        `Each scorer needs a digest: ${plan.scorers.length} scorers, ${scorers.length} digests.`,
      );
    }
    this.#plan = plan;
    this.#tallies = plan.configurations.map(() => new ConfigurationTally(plan.repetitions, scorers));
  }

  add(row: ReportRow): void {
    const tally = this.#tallies[row.configuration];
    if (tally === undefined) throw new RangeError(`The suite has no configuration ${row.configuration}.`);
    tally.add(row);
  }

  build(facts: ReportFacts): SuiteReport {
    const { name, tags, repetitions, configurations } = this.#plan;
    const columns = this.#plan.scorers.map((scorer, index) => this.#readColumn(scorer, index));
    const resampled = columns.filter(({ isVerdict }) => !isVerdict).flatMap(({ series }) => series);
    const bootstrap = admitsBootstrap(resampled.map(({ values }) => values.length));
    return {
      id: facts.id,
      name,
      tags,
      status: facts.status,
      ...omitUndefined({ reason: facts.reason, stopCode: facts.stopCode }),
      createdAtMs: facts.createdAtMs,
      ...omitUndefined({ startedAtMs: facts.startedAtMs, endedAtMs: facts.endedAtMs }),
      cases: facts.cases,
      repetitions,
      ...addTotals(this.#tallies.map((tally) => tally.computeTotals())),
      reused: facts.reused,
      ...omitUndefined({ paidUsd: facts.paidUsd }),
      configurations: this.#tallies.map((tally, index) =>
        tally.build(
          configurations[index]!,
          columns.map(({ scorer, series, isVerdict }) => ({ scorer, series: series[index]!, isVerdict })),
          { repetitions, bootstrap },
        ),
      ),
      comparisons: comparePairs(columns.flatMap((column) => this.#pairColumn(column))),
    };
  }

  #readColumn(scorer: Scorer, index: number): ScoreColumn {
    const series = this.#tallies.map((tally) => tally.readScores(index));
    const isVerdict = !LOWER_IS_BETTER.has(scorer.type) && series.every(({ values }) => areVerdicts(values));
    return { scorer, series, isVerdict };
  }

  #pairColumn({ scorer, series }: ScoreColumn): readonly ComparedPair[] {
    const sides = series.map((one, index) => ({
      ...computeCaseMeans(one),
      name: this.#plan.configurations[index]!.name,
    }));
    return pairConfigurations(sides.length).map(([a, b]) => ({
      score: getScorerName(scorer),
      type: scorer.type,
      a: sides[a]!,
      b: sides[b]!,
    }));
  }
}

/**
 * Lists which configurations of a report are compared, by index: all pairs of a few, and of many each with the first one.
 * Tests of all pairs of many would adjust every p-value to 1.
 */
export function pairConfigurations(count: number): readonly (readonly [a: number, b: number])[] {
  const firsts = count <= MAX_COMPARED_PAIRWISE ? count : 1;
  return Array.from({ length: firsts }, (_, a) =>
    Array.from({ length: count - a - 1 }, (_, distance) => [a, a + 1 + distance] as const),
  ).flat();
}

function addTotals(totals: readonly CellTotals[]): CellTotals {
  return totals.reduce(
    (sum, own) => ({
      cells: sum.cells + own.cells,
      finished: sum.finished + own.finished,
      failed: sum.failed + own.failed,
      pending: sum.pending + own.pending,
      costUsd: addCosts(sum.costUsd, own.costUsd),
      tokens: addUsage(sum.tokens, own.tokens),
      paidAnswers: sum.paidAnswers + own.paidAnswers,
      storedAnswers: sum.storedAnswers + own.storedAnswers,
    }),
    {
      cells: 0,
      finished: 0,
      failed: 0,
      pending: 0,
      costUsd: 0,
      tokens: NO_USAGE,
      paidAnswers: 0,
      storedAnswers: 0,
    },
  );
}
