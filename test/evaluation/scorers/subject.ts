import type { ScoreSubject } from "../../../src/schema/score-subject.ts";
import { Scorer, type ScorerOf } from "../../../src/schema/scorer.ts";

/** Builds what a scorer gets. */
export function createSubject(fields: Partial<ScoreSubject> = {}): ScoreSubject {
  return {
    answer: "",
    expected: undefined,
    metadata: {},
    calls: [],
    costUsd: 0,
    turns: 1,
    durationMs: 1,
    ...fields,
  };
}

/** Parses a scorer, with the defaults of its other fields. */
export function parseScorer<Type extends Scorer["type"]>(
  fields: { readonly type: Type } & Readonly<Record<string, unknown>>,
): ScorerOf<Type> {
  return Scorer.parse(fields) as ScorerOf<Type>;
}
