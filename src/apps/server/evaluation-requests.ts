import { z } from "zod";
import { JUDGE_FIELDS, PLAIN_SCORERS } from "../../schema/scorer.ts";
import { MAX_CONFIGURATIONS, MAX_SCORERS, SuiteCase, SuiteControl, SuitePlan } from "../../schema/suite.ts";
import { AgentChoice, StartBody } from "./request-schemas.ts";

// The queries and bodies of requests about runs of suites. The descriptions are those of the OpenAPI document.

const plan = SuitePlan.shape;
const control = SuiteControl.shape;

const MAX_LISTED = 500;
const limit = (what: string) =>
  z.coerce.number().int().positive().max(MAX_LISTED).default(100).describe(`The maximum number of ${what}.`);

const Configuration = z.strictObject({
  name: z
    .string()
    .min(1)
    .optional()
    .describe("The name of the configuration, unique within the suite; the name of its agent by default."),
  agent: AgentChoice.optional(),
  model: StartBody.shape.model,
});

/** A case has the texts of its files: the server reads no file that a request names. */
const Case = z.strictObject({
  id: z
    .union([SuiteCase.shape.id, z.number().int()])
    .optional()
    .describe("The id of the case, unique within the suite; by default a hash of its input, files and fork."),
  input: z
    .union([z.string().min(1), SuiteCase.shape.messages.min(1)])
    .optional()
    .describe(
      "The user's message, or several, of which each is sent when the previous one is answered. Required without `fork`.",
    ),
  files: SuiteCase.shape.files,
  fork: SuiteCase.shape.fork,
  expected: SuiteCase.shape.expected,
  metadata: SuiteCase.shape.metadata,
  tags: z.array(z.string().min(1)).optional().describe("Tags; reports have them as `metadata.tags`."),
});

const Scorer = z.discriminatedUnion("type", [
  ...PLAIN_SCORERS,
  z.strictObject({
    ...JUDGE_FIELDS,
    agent: AgentChoice.describe("The judge: an agent, as in `configurations`."),
  }),
]);

const concurrency = control.concurrency.optional();
const maxCostUsd = control.maxCostUsd.optional();

export const StartEvaluationBody = z.strictObject({
  name: plan.name,
  tags: plan.tags.optional(),
  configurations: z
    .array(Configuration)
    .min(1)
    .max(MAX_CONFIGURATIONS)
    .describe("The agents that are compared."),
  repetitions: plan.repetitions.optional().describe("How often each case is repeated; once by default."),
  concurrency: concurrency.describe("The cells that are asked side by side; 20 by default."),
  maxCostUsd: maxCostUsd.describe("The budget of the run in dollars; none by default."),
  stopAfterFailures: plan.stopAfterFailures
    .optional()
    .describe(
      "After this many failures of the same class nothing new begins; 20 by default, `null` for no limit.",
    ),
  keepWorkspaces: plan.keepWorkspaces.optional(),
  scorers: z
    .array(Scorer)
    .max(MAX_SCORERS)
    .optional()
    .describe("How answers are scored. A server that was started with agents accepts no `command`."),
  cases: z.array(Case).min(1, "must not be empty").describe("The cases."),
  fresh: z
    .boolean()
    .optional()
    .describe("Whether to ask every cell again, whatever other runs have finished."),
});
export type StartEvaluationBody = z.infer<typeof StartEvaluationBody>;

export const ChangeEvaluationBody = z
  .strictObject({ concurrency, maxCostUsd })
  .refine((change) => Object.keys(change).length > 0, { error: "needs `concurrency` or `maxCostUsd`" });

export const RetryBody = z.strictObject({
  failureClass: z
    .string()
    .min(1)
    .optional()
    .describe("Only cells that failed with this class, as in `failures`; all failed cells by default."),
});

/** The creation time of a run, and its id. */
const RUN_CURSOR = /^(\d{1,15})_(.{1,200})$/;

export const ListEvaluationsQuery = z.strictObject({
  name: z.string().optional().describe("Only runs of suites with this name."),
  tag: z.string().optional().describe("Only runs with this tag."),
  limit: limit("runs"),
  after: z
    .string()
    .regex(RUN_CURSOR, "must be `next` of the previous page")
    .optional()
    .describe("`next` of the previous page."),
});

export const CellsQuery = z.strictObject({
  configuration: z.string().optional().describe("Only cells of the configuration with this name."),
  case: z.string().optional().describe("Only cells of the case with this id."),
  state: z.enum(["pending", "finished", "failed"]).optional().describe("Only cells in this state."),
  limit: limit("cells"),
  after: z.coerce.number().int().nonnegative().optional().describe("`next` of the previous page."),
});

type ListedRun = { readonly id: string; readonly createdAtMs: number };

/** Formats the cursor of the page that follows a run. */
export function formatRunCursor({ createdAtMs, id }: ListedRun): string {
  return `${createdAtMs}_${id}`;
}

/** Parses a cursor that the query's schema has accepted. */
export function parseRunCursor(cursor: string | undefined): ListedRun | undefined {
  const [, createdAtMs, id] = RUN_CURSOR.exec(cursor ?? "") ?? [];
  return id === undefined ? undefined : { createdAtMs: Number(createdAtMs), id };
}
