import { z } from "zod";
import { Usage } from "../../../schema/message.ts";
import { Score } from "../../../schema/score.ts";
import { CellKind, SuiteControl, SuitePlan, SuiteStatus, SuiteStopCode } from "../../../schema/suite.ts";
import { ConfigurationReport, ScoreComparison, totals } from "./report-schemas.ts";

// The bodies of answers about runs of suites, for the OpenAPI document. Answers may have further fields.

const id = z.string().describe("The id of the run.");
const unixMs = z.number().int().describe("Unix milliseconds.");
const count = z.number().int().nonnegative();
const dollars = z.number().nullable();

const times = {
  createdAtMs: unixMs.describe("When the run was created, in Unix milliseconds."),
  startedAtMs: unixMs.optional().describe("When all of its cells were stored, in Unix milliseconds."),
  endedAtMs: unixMs.optional().describe("When it ended, in Unix milliseconds."),
};

const state = {
  id,
  control: SuiteControl.describe("What may be changed while the run works."),
  status: SuiteStatus.describe(
    "`planning`: its cells are being stored. `ended`: no cell is pending. `stopped`: see `reason`.",
  ),
  reason: z.string().optional().describe("Why it was stopped, or has failed."),
  stopCode: SuiteStopCode.optional().describe("Why it was stopped, for code."),
  cases: count.describe("The number of cases."),
  cells: totals.cells,
  reused: count.describe("The cells that other runs had finished when this one started."),
  ...times,
};

const progress = {
  pending: totals.pending,
  finished: totals.finished,
  failed: totals.failed,
  costUsd: totals.costUsd,
  paidUsd: dollars.describe(
    "US dollars that were paid since the run started; `null` if the cost of any cell is unknown.",
  ),
  failures: z.record(z.string(), count).describe("Failed cells by class."),
};

const plan = SuitePlan.describe("What the run is pinned to.");

export const Evaluation = z.looseObject({ ...state, plan });

export const EvaluationStatus = z.looseObject({ ...state, plan, ...progress });

/** The data of an event. */
export const EvaluationProgress = z.looseObject({ ...state, ...progress });

export const EvaluationPage = z.looseObject({
  runs: z.array(Evaluation).describe("The newest first."),
  next: z.string().nullable().describe("The value of `after` for the next page; `null` on the last one."),
});

const address = (what: string) => z.string().describe(`The address of ${what}, on this server.`);

export const StartedEvaluation = z.looseObject({
  id,
  links: z
    .looseObject({
      self: address("the run"),
      report: address("its report"),
      cells: address("its cells"),
      events: address("its progress as a stream"),
    })
    .describe("Where to read on."),
});

export const StoppedEvaluation = z.looseObject({
  id,
  open: z.boolean().describe("Whether the run was open."),
});

export const RetriedCells = z.looseObject({
  id,
  retried: count.describe("The number of cells that are pending again."),
});

const CellResult = z.looseObject({
  state: z.enum(["finished", "failed"]).describe("Whether the cell has an answer."),
  attempt: count.describe("From 1."),
  session: z.string().optional().describe("The session with the conversation of the cell."),
  loopId: z.string().optional().describe("The last loop of the session."),
  branch: z.string().optional().describe("The id of the branch of the session."),
  outcome: z.string().describe("How the cell has ended, such as `answered`; for a failure its class."),
  message: z.string().optional().describe("The text of the failure."),
  usage: Usage.describe("The tokens of the cell."),
  costUsd: dollars.describe("US dollars; `null` if a price is unknown."),
  turns: count.describe("The completed turns."),
  durationMs: count.describe("The time of the cell, in milliseconds."),
  paidAnswers: totals.paidAnswers,
  storedAnswers: totals.storedAnswers,
  endedAtMs: unixMs.describe("When it ended, in Unix milliseconds."),
});

export const CellPage = z.looseObject({
  cells: z
    .array(
      z.looseObject({
        number: count.describe("The number of the cell in the run, from 0."),
        cell: z
          .string()
          .describe("The hash of what determines the cell: runs with the same cell share its result."),
        caseNumber: count.describe("The number of its case, from 0."),
        caseId: z.string().describe("The id of its case."),
        configuration: count.describe("The number of its configuration, from 0."),
        configurationName: z.string().describe("The name of its configuration."),
        repetition: count.describe("From 0."),
        kind: CellKind.describe("`answer`: one request without tools. `agent`: a run of its own."),
        state: z.enum(["pending", "finished", "failed"]).describe("Whether it has a result and all scores."),
        result: CellResult.optional().describe("What the cell has come to."),
        scores: z
          .array(
            z.looseObject({
              name: z.string().describe("The name of the score."),
              score: Score.describe("The score."),
            }),
          )
          .describe("In the order of the scorers; those that are missing are not there yet."),
      }),
    )
    .describe("The cells, in order."),
  next: count.nullable().describe("The value of `after` for the next page; `null` on the last one."),
});

export const EvaluationReport = z.looseObject({
  id,
  name: SuitePlan.shape.name,
  tags: SuitePlan.shape.tags,
  status: state.status,
  reason: state.reason,
  stopCode: state.stopCode,
  ...times,
  cases: state.cases,
  repetitions: SuitePlan.shape.repetitions,
  reused: state.reused,
  paidUsd: progress.paidUsd.optional(),
  ...totals,
  configurations: z.array(ConfigurationReport).describe("What each configuration has come to."),
  comparisons: z
    .array(ScoreComparison)
    .describe("The pairs of configurations, or each with the first one if there are many."),
});
