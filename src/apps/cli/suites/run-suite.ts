import { type Command, Option } from "commander";
import type {
  Holdfast,
  LoadedSuite,
  PlanProgress,
  RunSuiteOptions,
  SuiteRun,
} from "../../../client/index.ts";
import type { Context, RunAction } from "../context.ts";
import { assertDetachable } from "../detach.ts";
import { EXIT } from "../exit-codes.ts";
import { handleInterrupts } from "../interrupts.ts";
import { openStack } from "../local-stack.ts";
import { parsePositiveNumber, parseWholeNumber } from "../parse-number.ts";
import { SANDBOX_OPTION, type SandboxFlag } from "../sandbox-flag.ts";
import { formatCount } from "../text.ts";
import { showTrustNotice } from "../trust-notice.ts";
import { UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";
import { UsageError } from "../usage-error.ts";
import { RUN_ARGUMENT } from "./find-suite-run.ts";
import { followSuite } from "./follow-suite.ts";
import { loadSuiteFile } from "./load-suite-file.ts";
import { ProgressLine } from "./progress-line.ts";
import { type FindMisses, reportDetachedRun, reportLeft, reportRun } from "./report-run.ts";
import { findMissedThresholds, findRegressions, parseThresholds, type Threshold } from "./thresholds.ts";

export type RunFlags = SandboxFlag &
  UntrustedFlag & {
    readonly fresh?: boolean;
    readonly cells?: "auto" | "workflow";
    readonly concurrency?: string;
    readonly maxCost?: string;
    readonly limit?: string;
    readonly keepWorkspaces?: boolean;
    readonly detach?: boolean;
    readonly failUnder?: readonly string[];
    readonly failIfWorseThan?: string;
    readonly retryFailed?: boolean;
  };

export function configureRunSuiteCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<suite>", "the suite file: TOML, YAML or JSON")
    .option("--fresh", "ask every cell, also those that other runs have finished")
    .addOption(
      new Option(
        "--cells <kind>",
        "workflow: give each cell a run of its own; auto: only those that need one",
      )
        .choices(["auto", "workflow"])
        .default("auto"),
    )
    .option("--concurrency <n>", "the cells that are asked side by side (default: the suite's)")
    .option("--max-cost <usd>", "the budget of the run in dollars (default: the suite's)")
    .option("--limit <n>", "only the first cases")
    .option("--keep-workspaces", "keep the workspaces of cells after they are scored")
    .option("--retry-failed", "ask the failed cells once more when all others have ended")
    .option("--detach", "start the run, print its id and exit; the server and its workers continue it")
    .option(
      "--fail-under <minimum>",
      "exit with 7 if a configuration's mean of the first score, or of NAME=MINIMUM, is below it; repeatable",
      (value: string, before: readonly string[] = []) => [...before, value],
    )
    .option(
      "--fail-if-worse-than <run>",
      "exit with 7 if a score is worse than in this run, at an adjusted p-value below 0.05",
    )
    .option(...UNTRUSTED)
    .option(...SANDBOX_OPTION)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast eval run suite.toml
  $ holdfast eval run suite.toml --limit 20 --max-cost 1
  $ holdfast eval run suite.toml --fail-under 0.8 --fail-under judge=0.6
  $ holdfast eval run suite.toml --fail-if-worse-than last --json > report.jsonl
  $ holdfast eval run suite.toml --concurrency 100 --detach

RUN is ${RUN_ARGUMENT}. Finished cells are stored, and other runs with the same agents and cases reuse them.
The command uses a running server, or starts a server and a worker for the duration of the run. Ctrl-C stops the run:
cells in flight stay pending, and "holdfast eval resume" continues it. A second Ctrl-C exits at once.

Exit codes: 0 if every cell is finished, 1 if a cell or the run has failed, 4 if it was stopped, 5 if its budget is used
up, 7 if a threshold is missed.`,
    )
    .action(async (file: string, flags: RunFlags) => runAction((context) => runSuite(context, file, flags)));
}

async function runSuite(context: Context, file: string, flags: RunFlags): Promise<number> {
  const options = parseRunOptions(flags);
  const suite = await loadSuiteFile(context, file, flags);
  const thresholds = parseThresholds(flags.failUnder ?? [], suite);
  assertWaits(flags);
  showTrustNotice(context, flags);
  const agents = suite.configurations.map(({ definition }) => definition);
  const stack = await openStack(context, { sandbox: flags.sandbox, agents });
  try {
    if (flags.detach === true) assertDetachable(stack);
    const { evaluations } = stack.holdfast;
    // `last` is the run before this one.
    const baseline =
      flags.failIfWorseThan === undefined ? undefined : await evaluations.find(flags.failIfWorseThan);
    const run = await startRun(context, stack.holdfast, suite, options);
    if (run === undefined) return EXIT.interrupted;
    if (flags.detach === true) return reportDetachedRun(context, run);
    if (context.json) context.printJson({ type: "started", run: run.id });
    else
      context.report(context.err.dim(`run ${run.id}${stack.uiUrl === undefined ? "" : ` · ${stack.uiUrl}`}`));
    let status = await followSuite(context, run, "stop");
    if (flags.retryFailed === true && status?.status === "ended" && status.failed > 0) {
      const retried = await run.retryFailed();
      context.report(context.err.dim(`Asking ${formatCount(retried, "failed cell")} again …`));
      status = await followSuite(context, run, "stop");
    }
    if (status === undefined) return reportLeft(context, run, stack.started);
    return await reportRun(context, run, createCheck(stack.holdfast, { run, thresholds, baseline }));
  } finally {
    await stack.close();
  }
}

/** Parses the flags of a run. @throws UsageError For a value that is none. */
export function parseRunOptions(flags: RunFlags): RunSuiteOptions {
  const { fresh, cells, concurrency, maxCost, limit, keepWorkspaces } = flags;
  return {
    ...(fresh === true ? { fresh } : {}),
    ...(cells === "workflow" ? { cells: "agent" as const } : {}),
    ...(concurrency === undefined ? {} : { concurrency: parseWholeNumber("--concurrency", concurrency) }),
    ...(maxCost === undefined ? {} : { maxCostUsd: parsePositiveNumber("--max-cost", maxCost) }),
    ...(limit === undefined ? {} : { limit: parseWholeNumber("--limit", limit) }),
    ...(keepWorkspaces === true ? { keepWorkspaces } : {}),
  };
}

function assertWaits({ detach, failUnder, failIfWorseThan, retryFailed }: RunFlags): void {
  if (detach !== true) return;
  const waiting = [
    ...(failUnder === undefined ? [] : ["--fail-under"]),
    ...(failIfWorseThan === undefined ? [] : ["--fail-if-worse-than"]),
    ...(retryFailed === true ? ["--retry-failed"] : []),
  ];
  if (waiting.length === 0) return;
  throw new UsageError(
    `${waiting.join(" and ")} need the end of the run, which --detach does not wait for. Leave out --detach.`,
  );
}

/** Stores the cells and starts the run. Returns undefined if the user has stopped it before anything was asked. */
async function startRun(
  context: Context,
  holdfast: Holdfast,
  suite: LoadedSuite,
  options: RunSuiteOptions,
): Promise<SuiteRun | undefined> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  const off = handleInterrupts(context.streams.signals, abort, abort);
  const line = new ProgressLine(context);
  const onPlanning = ({ cases, cells }: PlanProgress): void => {
    if (context.json) context.printJson({ type: "planning", cases, cells });
    else line.show(`Planning: ${formatCount(cases, "case")}, ${formatCount(cells, "cell")}`, Date.now());
  };
  try {
    return await holdfast.evaluations.start(suite, { ...options, onPlanning, signal: stop.signal });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    context.report(context.err.yellow("Stopped while the cells were planned. Nothing was asked."));
    return undefined;
  } finally {
    line.end();
    off();
  }
}

type Check = {
  readonly run: SuiteRun;
  readonly thresholds: readonly Threshold[];
  readonly baseline: string | undefined;
};

function createCheck({ evaluations }: Holdfast, { run, thresholds, baseline }: Check): FindMisses {
  return async (report) => [
    ...findMissedThresholds(thresholds, report),
    ...(baseline === undefined ? [] : findRegressions(await evaluations.compare(baseline, run.id))),
  ];
}
