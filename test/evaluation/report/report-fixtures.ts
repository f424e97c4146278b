import type { ReportFacts, ReportRow } from "../../../src/evaluation/report/index.ts";
import type { Score } from "../../../src/schema/score.ts";
import type { Scorer } from "../../../src/schema/scorer.ts";
import { SuitePlan } from "../../../src/schema/suite.ts";

export const FACTS: ReportFacts = { id: "run-1", status: "ended", cases: 4, reused: 0, createdAtMs: 1000 };

/** Digests of the scorers of a plan: `digest-` and the name. */
export function listDigests(plan: SuitePlan): readonly string[] {
  return plan.scorers.map(({ name, type }) => `digest-${name ?? type}`);
}

export function createPlan(
  scorers: readonly object[],
  { configurations = ["plain"], repetitions = 1 } = {},
): SuitePlan {
  return SuitePlan.parse({
    name: "capitals",
    tags: ["quick"],
    configurations: configurations.map((name) => ({
      name,
      definitionHash: `hash-${name}`,
      agentName: "geographer",
      model: "fake/model",
      kind: "answer",
    })),
    repetitions,
    scorers,
    stopAfterFailures: null,
    keepWorkspaces: false,
  });
}

type RowFields = {
  readonly caseNumber: number;
  readonly configuration?: number;
  readonly repetition?: number;
  readonly state?: ReportRow["state"];
  readonly outcome?: string;
  readonly costUsd?: number | null;
  readonly turns?: number;
  readonly durationMs?: number;
  readonly scores?: ReportRow["scores"];
};

export function createRow({
  caseNumber,
  configuration = 0,
  repetition = 0,
  state = "finished",
  outcome = "answered",
  costUsd = 0.5,
  turns = 1,
  durationMs = 100,
  scores = {},
}: RowFields): ReportRow {
  const usage = { input: 10, output: 5, reasoning: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 15 };
  const result = { outcome, usage, costUsd, turns, durationMs, paidAnswers: 1, storedAnswers: 0 };
  return {
    caseNumber,
    configuration,
    repetition,
    state,
    ...(state === "pending" ? {} : { result }),
    scores,
  };
}

export function createScore(value: number): Score {
  return { class: "scored", value };
}

/** A row with one score, by the first scorer of a plan. */
export function createScoredRow(
  plan: SuitePlan,
  caseNumber: number,
  value: number,
  fields: Omit<RowFields, "caseNumber"> = {},
): ReportRow {
  return createRow({ caseNumber, scores: { [listDigests(plan)[0]!]: createScore(value) }, ...fields });
}

export const EXACT = { type: "exact" } as const satisfies { type: Scorer["type"] };
export const EDIT_DISTANCE = { type: "edit-distance" } as const satisfies { type: Scorer["type"] };
