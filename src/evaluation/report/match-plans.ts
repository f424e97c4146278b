import type { Scorer } from "../../schema/scorer.ts";
import { getScorerName } from "../../schema/scorer-name.ts";
import type { SuitePlan } from "../../schema/suite.ts";

/** What the two runs have in common, by the indices of both, and what only one of them has. */
export type Matches = {
  readonly pairs: readonly { readonly a: number; readonly b: number }[];
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
};

/** Matches configurations by name. If each run has one only, these match whatever they are called. */
export function matchConfigurations(
  a: Pick<SuitePlan, "configurations">,
  b: Pick<SuitePlan, "configurations">,
): Matches {
  const namesA = a.configurations.map(({ name }) => name);
  const namesB = b.configurations.map(({ name }) => name);
  if (namesA.length === 1 && namesB.length === 1) return { pairs: [{ a: 0, b: 0 }], onlyA: [], onlyB: [] };
  return matchNames(namesA, namesB, () => true);
}

/** Matches scorers by name and type: numbers of different types are not comparable. */
export function matchScorers(a: readonly Scorer[], b: readonly Scorer[]): Matches {
  return matchNames(
    a.map(getScorerName),
    b.map(getScorerName),
    (indexA, indexB) => a[indexA]?.type === b[indexB]?.type,
  );
}

function matchNames(
  a: readonly string[],
  b: readonly string[],
  isMatch: (indexA: number, indexB: number) => boolean,
): Matches {
  const indices = new Map(b.map((name, index) => [name, index]));
  const pairs = a.flatMap((name, index) => {
    const other = indices.get(name);
    return other !== undefined && isMatch(index, other) ? [{ a: index, b: other }] : [];
  });
  const matchedA = new Set(pairs.map((pair) => pair.a));
  const matchedB = new Set(pairs.map((pair) => pair.b));
  return {
    pairs,
    onlyA: a.filter((_, index) => !matchedA.has(index)),
    onlyB: b.filter((_, index) => !matchedB.has(index)),
  };
}
