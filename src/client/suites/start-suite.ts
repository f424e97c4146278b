import { randomUUID } from "node:crypto";
import { formatProblem } from "../../config/problem.ts";
import type { LoadedSuite } from "../../config/suite-file/loaded-suite.ts";
import { SuiteCaseError } from "../../config/suite-file/read-cases.ts";
import { getDefinitionKind } from "../../core/suite/cell-kind.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { Scorer } from "../../schema/scorer.ts";
import { MAX_CONCURRENCY, SuiteControl, SuitePlan } from "../../schema/suite.ts";
import { digestScorer } from "../../store/transcript/digest-scorer.ts";
import type { SuiteRunRecord } from "../../store/transcript/suites.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { SUITE_WORKFLOW } from "../../workflows/messages.ts";
import type { SuiteRequest } from "../../workflows/suite-input.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { getErrorMessage, HoldfastError } from "../holdfast-error.ts";
import { buildRunOptions, getRunSettings } from "../runs/build-run-options.ts";
import { checkSearchAttributes } from "../runs/check-search-attributes.ts";
import { validateDefinition } from "../runs/pin-definition.ts";
import { assertPricesKnown } from "./assert-prices-known.ts";
import { digestConfiguration, findUnversioned } from "./cell-id.ts";
import { parseSuiteInput } from "./parse-suite-input.ts";
import { type PlannedConfiguration, type PlanProgress, planCells } from "./plan-cells.ts";

/** How a run of a suite differs from what the suite states. */
export type RunSuiteOptions = {
  /** Asks every cell, whatever other runs have finished. */
  readonly fresh?: boolean;
  /** `agent`: gives each cell a run of its own; by default only those that need one have it. */
  readonly cells?: "agent";
  /** The cells that are asked side by side, in place of the suite's number. */
  readonly concurrency?: number;
  /** The budget in dollars, in place of the suite's. */
  readonly maxCostUsd?: number | null;
  /** Keeps the workspaces of cells after they are scored. */
  readonly keepWorkspaces?: boolean;
  /** The first cases only. */
  readonly limit?: number;
  /** Called while cases are stored. */
  readonly onPlanning?: (progress: PlanProgress) => void;
  /** Ends the planning; nothing has been asked then. */
  readonly signal?: AbortSignal;
};

/** Stores what a suite asks, and starts its workflow. Nothing is asked before all of it is stored. */
export async function startSuite(
  link: ClientLink,
  suite: LoadedSuite,
  options: RunSuiteOptions = {},
): Promise<SuiteRunRecord> {
  const { fresh = false, cells, limit, onPlanning, signal } = options;
  const id = `suite-${randomUUID()}`;
  await checkSearchAttributes(link);
  const transcript = await link.storage.openTranscript();
  const scorers = await storeScorers(suite, transcript);
  const configurations = await storeConfigurations(suite, transcript, { fresh, cells, run: id });
  const control = parseSuiteInput(
    SuiteControl,
    {
      state: "running",
      concurrency: Math.min(options.concurrency ?? suite.concurrency, MAX_CONCURRENCY),
      maxCostUsd: options.maxCostUsd === undefined ? suite.maxCostUsd : options.maxCostUsd,
    },
    "The run",
  );
  assertPricesKnown(control, [
    ...suite.configurations.map(({ definition }) => definition),
    ...suite.scorers.flatMap(({ judge }) => judge ?? []),
  ]);
  const plan = parseSuiteInput(
    SuitePlan,
    {
      name: suite.name,
      tags: [...suite.tags],
      configurations: configurations.map(({ configuration }) => configuration),
      repetitions: suite.repetitions,
      scorers,
      stopAfterFailures: suite.stopAfterFailures,
      ...(fresh ? { fresh } : {}),
      keepWorkspaces: options.keepWorkspaces ?? suite.keepWorkspaces,
    },
    "The suite",
  );
  await transcript.suites.createRun({
    id,
    plan,
    control,
    scorers: scorers.map(digestScorer),
    atMs: Date.now(),
  });
  const endWith = (reason: string) =>
    transcript.suites.setStatus(id, { status: "failed", reason, atMs: Date.now() });
  try {
    await planCells(
      { run: id, cases: suite.cases(), configurations, repetitions: plan.repetitions, limit },
      transcript.suites,
      { onPlanning, signal },
    );
  } catch (error) {
    if (!(error instanceof SuiteCaseError)) throw error;
    await endWith("its cases are not valid");
    const problems = error.problems.map(formatProblem);
    throw new HoldfastError("input-invalid", error.message, { problems, cause: error });
  }
  const record = await transcript.suites.startRun(id, Date.now());
  if (record.cells === 0) {
    const message = `The suite ${suite.name} has no cases: there is nothing to ask.`;
    await endWith(message);
    throw new HoldfastError("input-invalid", message);
  }
  try {
    await launchSuite(link, record);
  } catch (error) {
    // Without its workflow, the run would be shown as running forever. It can be resumed.
    await endWith(`It could not be started: ${getErrorMessage(error)}`).catch(() => undefined);
    throw error;
  }
  return record;
}

/** Starts the workflow of a run whose cells are stored, or does nothing if it is running. */
export async function launchSuite(
  link: ClientLink,
  { id, plan, control, cells }: SuiteRunRecord,
): Promise<void> {
  const request: SuiteRequest = { control, ...getRunSettings(link) };
  try {
    await link.client.workflow.start(SUITE_WORKFLOW, {
      ...buildRunOptions(link, id, {
        kind: "suite",
        summary: `suite ${link.settings.redactContent === true ? "" : `${plan.name} · `}${cells} cells`,
      }),
      workflowIdConflictPolicy: "USE_EXISTING",
      // People who wait at the same workers come first.
      priority: { priorityKey: 5 },
      args: [request],
    });
  } catch (error) {
    throw toHoldfastError(error, link, id);
  }
}

async function storeScorers({ scorers }: LoadedSuite, transcript: Transcript): Promise<Scorer[]> {
  return await Promise.all(
    scorers.map(async ({ scorer, judge }) => {
      if (scorer.type !== "judge") return Scorer.parse(scorer);
      if (judge === undefined)
        throw new HoldfastError("input-invalid", `The judge ${scorer.agent} of the suite has no definition.`);
      const { agent: _file, ...rest } = scorer;
      const hash = await transcript.saveDefinition(validateDefinition(judge));
      return Scorer.parse({ ...rest, judge: hash });
    }),
  );
}

type Sharing = {
  readonly fresh: boolean;
  readonly cells: RunSuiteOptions["cells"] | undefined;
  readonly run: string;
};

async function storeConfigurations(
  { configurations, versions = {} }: LoadedSuite,
  transcript: Transcript,
  { fresh, cells, run }: Sharing,
): Promise<PlannedConfiguration[]> {
  return await Promise.all(
    configurations.map(async ({ name, definition: given, parameters }) => {
      const definition = validateDefinition(given);
      const definitionHash = await transcript.saveDefinition(definition);
      const isOwn = fresh === true || findUnversioned(definition, versions) !== undefined;
      return {
        definition,
        digest: digestConfiguration(definition, versions, isOwn ? run : undefined),
        configuration: {
          name,
          definitionHash,
          agentName: definition.name,
          model: `${definition.model.provider}/${definition.model.id}`,
          kind: cells ?? getDefinitionKind(definition),
          ...omitUndefined({ parameters }),
        },
      };
    }),
  );
}
