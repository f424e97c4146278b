import { addUsage, type Cost, NO_USAGE } from "../../core/budget/usage.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Scorer } from "../../schema/scorer.ts";
import type { SuiteConfiguration } from "../../schema/suite.ts";
import { computeMedian } from "../statistics/index.ts";
import { computeRowCost, type ReportRow, readValues } from "./report-row.ts";
import { ScoreTally } from "./score-summary.ts";
import { type ScoreSeries, ScoreTable } from "./score-table.ts";
import type { CellTotals, ConfigurationReport } from "./suite-report.ts";

/** Counts the cells of one configuration and keeps the few numbers of each that a report needs. */
export class ConfigurationTally {
  readonly #scorers: readonly string[];
  readonly #counts = { pending: 0, finished: 0, failed: 0 };
  readonly #outcomes = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #durations: number[] = [];
  readonly #classes: readonly ScoreTally[];
  readonly #scores: ScoreTable;
  readonly #costs: ScoreTable;
  #hasUnknownCost = false;
  #turns = 0;
  #tokens = NO_USAGE;
  #paidAnswers = 0;
  #storedAnswers = 0;

  constructor(repetitions: number, scorers: readonly string[]) {
    this.#scorers = scorers;
    this.#classes = scorers.map(() => new ScoreTally());
    this.#scores = new ScoreTable(repetitions, scorers.length);
    this.#costs = new ScoreTable(repetitions, 1);
  }

  add(row: ReportRow): void {
    this.#counts[row.state]++;
    this.#addCost(row);
    const { result } = row;
    if (row.state === "failed") increment(this.#failures, result?.outcome ?? "unknown");
    if (result !== undefined) {
      this.#tokens = addUsage(this.#tokens, result.usage);
      this.#paidAnswers += result.paidAnswers;
      this.#storedAnswers += result.storedAnswers;
    }
    if (row.state !== "finished") return;
    this.#scores.add(row, readValues(row, this.#scorers));
    for (const [index, digest] of this.#scorers.entries()) this.#classes[index]?.add(row.scores[digest]);
    if (result === undefined) return;
    increment(this.#outcomes, result.outcome);
    this.#turns += result.turns;
    this.#durations.push(result.durationMs);
  }

  #addCost(row: ReportRow): void {
    const cost = computeRowCost(row, new Set(this.#scorers));
    if (cost === null) this.#hasUnknownCost = true;
    else if (cost > 0) this.#costs.add(row, [cost]);
  }

  readScores(scorer: number): ScoreSeries {
    return this.#scores.readSeries(scorer);
  }

  computeTotals(): CellTotals {
    const { pending, finished, failed } = this.#counts;
    return {
      cells: pending + finished + failed,
      finished,
      failed,
      pending,
      costUsd: this.#sumCosts(),
      tokens: this.#tokens,
      paidAnswers: this.#paidAnswers,
      storedAnswers: this.#storedAnswers,
    };
  }

  #sumCosts(): Cost {
    if (this.#hasUnknownCost) return null;
    return this.#costs.readSeries(0).values.reduce((sum, cost) => sum + cost, 0);
  }

  /** @param scores - The series of each scorer, as `readScores` returns them. */
  build(
    configuration: SuiteConfiguration,
    scores: readonly {
      readonly scorer: Scorer;
      readonly series: ScoreSeries;
      readonly isVerdict: boolean;
    }[],
    options: { readonly repetitions: number; readonly bootstrap: boolean },
  ): ConfigurationReport {
    const totals = this.computeTotals();
    const timed = this.#durations.length;
    return {
      name: configuration.name,
      agent: configuration.agentName,
      model: configuration.model,
      ...omitUndefined({ parameters: configuration.parameters }),
      ...totals,
      outcomes: sortCounts(this.#outcomes),
      failures: sortCounts(this.#failures),
      meanTurns: timed === 0 ? null : this.#turns / timed,
      medianDurationMs: timed === 0 ? null : computeMedian(this.#durations),
      scores: scores.map(({ scorer, series, isVerdict }, index) =>
        this.#classes[index]!.summarise(scorer, series, { ...options, cells: totals.cells, isVerdict }),
      ),
    };
  }
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function sortCounts(counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
