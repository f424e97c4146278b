import { LOWER_IS_BETTER, type Scorer } from "../../schema/scorer.ts";
import { getScorerName } from "../../schema/scorer-name.ts";
import type { SuitePlan } from "../../schema/suite.ts";
import { type CaseMeans, computeCaseMeans } from "./case-means.ts";
import { CaseNumbers } from "./case-numbers.ts";
import { LargestChanges } from "./changed-cases.ts";
import { type ComparedPair, comparePairs } from "./compare-pairs.ts";
import { type Matches, matchConfigurations, matchScorers } from "./match-plans.ts";
import { type ReportRow, readValues } from "./report-row.ts";
import type { RunComparison } from "./run-comparison.ts";
import { ScoreTable } from "./score-table.ts";

/** The scores of one run by the scorers that both runs have. */
type RunSide = {
  readonly plan: SuitePlan;
  /** Digests, in the order of the common scorers. */
  readonly scorers: readonly string[];
  /** By the index of the configuration in the run; only of common ones. */
  readonly tables: ReadonlyMap<number, ScoreTable>;
};

/**
 * Compares two runs from the rows of their cells, each added once, in any order. It keeps a few numbers of each row.
 *
 * Cases match by id. A case is compared if both runs have a score of it: failed cells are no part of a comparison.
 */
export class ComparisonBuilder {
  readonly #configurations: Matches;
  readonly #matched: Matches;
  readonly #cases = new CaseNumbers();
  readonly #a: RunSide;
  readonly #b: RunSide;

  /** @param scorersA - The digests of the scorers of `planA`, in their order. */
  constructor(planA: SuitePlan, scorersA: readonly string[], planB: SuitePlan, scorersB: readonly string[]) {
    this.#configurations = matchConfigurations(planA, planB);
    this.#matched = matchScorers(planA.scorers, planB.scorers);
    this.#a = createSide(planA, scorersA, "a", this.#configurations, this.#matched);
    this.#b = createSide(planB, scorersB, "b", this.#configurations, this.#matched);
  }

  addA(row: ReportRow, caseId: string): void {
    addRow(this.#a, row, this.#cases.admit(caseId, "a"));
  }

  addB(row: ReportRow, caseId: string): void {
    addRow(this.#b, row, this.#cases.admit(caseId, "b"));
  }

  build(): RunComparison {
    const order = this.#cases.listById();
    const scorers = this.#matched.pairs.map(({ a }) => this.#a.plan.scorers[a]!);
    const compared = scorers.flatMap((scorer, column) => this.#pairScores(scorer, column, order));
    const changes = this.#findChanges(compared);
    return {
      a: this.#a.plan.name,
      b: this.#b.plan.name,
      cases: this.#cases.count(),
      configurations: this.#configurations.pairs.map(({ a, b }) => ({
        a: this.#a.plan.configurations[a]!.name,
        b: this.#b.plan.configurations[b]!.name,
      })),
      configurationsOnlyA: this.#configurations.onlyA,
      configurationsOnlyB: this.#configurations.onlyB,
      scores: scorers.map((scorer, column) => ({
        name: getScorerName(scorer),
        type: scorer.type,
        changed: this.#a.scorers[column] !== this.#b.scorers[column],
      })),
      scoresOnlyA: this.#matched.onlyA,
      scoresOnlyB: this.#matched.onlyB,
      comparisons: comparePairs(compared),
      changed: changes.list(),
      changedCount: changes.count,
    };
  }

  #pairScores(scorer: Scorer, column: number, order: readonly number[]): readonly ComparedPair[] {
    const read = (side: RunSide, configuration: number) => ({
      ...sortMeans(computeCaseMeans(side.tables.get(configuration)!.readSeries(column)), order),
      name: side.plan.configurations[configuration]!.name,
    });
    return this.#configurations.pairs.map(({ a, b }) => ({
      score: getScorerName(scorer),
      type: scorer.type,
      a: read(this.#a, a),
      b: read(this.#b, b),
    }));
  }

  #findChanges(compared: readonly ComparedPair[]): LargestChanges {
    const changes = new LargestChanges();
    for (const { a, b, score, type } of compared) {
      if (LOWER_IS_BETTER.has(type)) continue;
      for (const [number, before] of a.means) {
        const after = b.means.get(number);
        if (after === undefined || after === before) continue;
        changes.add({ caseId: this.#cases.readId(number), configuration: a.name, score, before, after });
      }
    }
    return changes;
  }
}

function createSide(
  plan: SuitePlan,
  scorers: readonly string[],
  side: "a" | "b",
  configurations: Matches,
  matched: Matches,
): RunSide {
  const common = matched.pairs.map((pair) => scorers[pair[side]]!);
  return {
    plan,
    scorers: common,
    tables: new Map(
      configurations.pairs.map((pair) => [pair[side], new ScoreTable(plan.repetitions, common.length)]),
    ),
  };
}

function addRow({ tables, scorers }: RunSide, row: ReportRow, caseNumber: number): void {
  if (row.state !== "finished") return;
  tables.get(row.configuration)?.add({ caseNumber, repetition: row.repetition }, readValues(row, scorers));
}

function sortMeans({ means, isSingle }: CaseMeans, order: readonly number[]): CaseMeans {
  const sorted = new Map<number, number>();
  for (const number of order) {
    const mean = means.get(number);
    if (mean !== undefined) sorted.set(number, mean);
  }
  return { means: sorted, isSingle };
}
