import { comparePairs } from "../../evaluation/report/compare-pairs.ts";
import { type CaseMeans, computeCaseMeans, type ScoreComparison } from "../../evaluation/report/index.ts";
import { getScorerName, type Scorer } from "../../schema/scorer.ts";
import type { SuiteRunRecord, SuiteStore } from "../../store/transcript/suites.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { digestCase } from "./cell-id.ts";
import { readCases } from "./read-cases.ts";
import { readCellRows } from "./read-cell-rows.ts";

/** A score of a case that differs between two runs: means over repetitions. */
export type ChangedCase = {
  readonly caseId: string;
  readonly before: number;
  readonly after: number;
};

/** How a configuration of the second run differs from the same one of the first, by one score. */
export type RunScoreComparison = ScoreComparison & {
  /** The scorer itself has changed between the runs: the difference is not the configuration's alone. */
  readonly isScorerChanged: boolean;
  /** The cases whose score differs, the largest difference first. */
  readonly changes: readonly ChangedCase[];
};

/** How a run differs from an earlier one, on the cases that both have scored. */
export type RunComparison = {
  /** The ids of the runs: `a` is the earlier one. */
  readonly a: string;
  readonly b: string;
  readonly comparisons: readonly RunScoreComparison[];
  /** Cases with the same id that ask something else: they are not compared. */
  readonly alteredCases: number;
  /** The configurations that only one of the runs has. */
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
};

type Side = { readonly suites: SuiteStore; readonly record: SuiteRunRecord };

/**
 * Compares a run with an earlier one. Cases are paired by id, and configurations by name; if each run has one configuration,
 * these two are compared, whatever their names.
 */
export async function compareRuns(
  suites: SuiteStore,
  a: SuiteRunRecord,
  b: SuiteRunRecord,
): Promise<RunComparison> {
  const cases = new CaseNumbers();
  const before = await readMeans({ suites, record: a }, cases);
  const after = await readMeans({ suites, record: b }, cases);
  const names = { a: listNames(a), b: listNames(b) };
  const isSinglePair = names.a.length === 1 && names.b.length === 1;
  const pairs = isSinglePair
    ? [[0, 0] as const]
    : names.a.flatMap((name, index) =>
        names.b.includes(name) ? [[index, names.b.indexOf(name)] as const] : [],
      );
  const compared = pairs.flatMap(([first, second]) =>
    pairScores(a, b).map((score) => ({ first, second, score })),
  );
  if (compared.length === 0) throw createIncomparableError(a, b);
  const comparisons = comparePairs(
    compared.map(({ first, second, score: { scorer, indexA, indexB } }) => ({
      score: getScorerName(scorer),
      type: scorer.type,
      a: { name: names.a[first]!, ...before[first]![indexA]! },
      b: { name: names.b[second]!, ...after[second]![indexB]! },
    })),
  );
  return {
    a: a.id,
    b: b.id,
    comparisons: comparisons.map((comparison, index) => {
      const { first, second, score } = compared[index]!;
      return {
        ...comparison,
        isScorerChanged: a.scorers[score.indexA] !== b.scorers[score.indexB],
        changes: listChanges(before[first]![score.indexA]!, after[second]![score.indexB]!, cases),
      };
    }),
    alteredCases: cases.countAltered(),
    onlyA: isSinglePair ? [] : names.a.filter((name) => !names.b.includes(name)),
    onlyB: isSinglePair ? [] : names.b.filter((name) => !names.a.includes(name)),
  };
}

function listNames({ plan }: SuiteRunRecord): readonly string[] {
  return plan.configurations.map(({ name }) => name);
}

type PairedScorer = { readonly scorer: Scorer; readonly indexA: number; readonly indexB: number };

/** Pairs scorers of the same name and type. */
function pairScores(a: SuiteRunRecord, b: SuiteRunRecord): readonly PairedScorer[] {
  return a.plan.scorers.flatMap((scorer, indexA) => {
    const indexB = b.plan.scorers.findIndex(
      (other) => other.type === scorer.type && getScorerName(other) === getScorerName(scorer),
    );
    return indexB < 0 ? [] : [{ scorer, indexA, indexB }];
  });
}

/** Gives the same case of several runs one number. */
class CaseNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #ids: string[] = [];
  readonly #digests = new Map<string, Set<string>>();

  assign(id: string, digest: string): number {
    const key = `${digest} ${id}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#ids.push(id) - 1;
    this.#numbers.set(key, number);
    const digests = this.#digests.get(id) ?? new Set();
    this.#digests.set(id, digests.add(digest));
    return number;
  }

  readId(number: number): string {
    return this.#ids[number]!;
  }

  countAltered(): number {
    return [...this.#digests.values()].filter(({ size }) => size > 1).length;
  }
}

/** Reads the means of each case, by configuration and scorer. It keeps one number of each finished cell and scorer. */
async function readMeans(
  { suites, record }: Side,
  numbers: CaseNumbers,
): Promise<readonly (readonly CaseMeans[])[]> {
  const { plan, scorers, id } = record;
  const shared: number[] = [];
  for await (const { number, value } of readCases(suites, id))
    shared[number] = numbers.assign(value.id, digestCase(value));
  const series = plan.configurations.map(() =>
    scorers.map(() => ({ values: [] as number[], cases: [] as number[] })),
  );
  for await (const row of readCellRows(suites, id, { state: "finished" })) {
    for (const [index, digest] of scorers.entries()) {
      const value = row.scores[digest]?.value;
      const one = series[row.configuration]?.[index];
      if (value === undefined || value === null || one === undefined) continue;
      one.values.push(value);
      one.cases.push(shared[row.caseNumber]!);
    }
  }
  return series.map((row) => row.map(computeCaseMeans));
}

function listChanges(before: CaseMeans, after: CaseMeans, numbers: CaseNumbers): readonly ChangedCase[] {
  const changes = [...before.means].flatMap(([number, value]) => {
    const other = after.means.get(number);
    if (other === undefined || other === value) return [];
    return [{ caseId: numbers.readId(number), before: value, after: other }];
  });
  return changes.sort((one, two) => Math.abs(two.after - two.before) - Math.abs(one.after - one.before));
}

function createIncomparableError(a: SuiteRunRecord, b: SuiteRunRecord): HoldfastError {
  return new HoldfastError(
    "input-invalid",
    `Runs ${a.id} and ${b.id} have no configuration and score in common, so nothing of them can be compared. ` +
      `The first has ${listNames(a).join(", ")} with ${listScores(a)}; the second has ${listNames(b).join(", ")} with ${listScores(b)}.`,
  );
}

function listScores({ plan }: SuiteRunRecord): string {
  return plan.scorers.length === 0 ? "no scorers" : plan.scorers.map(getScorerName).join(", ");
}
