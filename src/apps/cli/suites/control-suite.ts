import type { Command } from "commander";
import type { SuiteControl, SuiteRunRecord } from "../../../client/index.ts";
import { hasEnded } from "../../../client/suites/suite-run.ts";
import type { Context, RunAction } from "../context.ts";
import { assertDetachable } from "../detach.ts";
import { EXIT } from "../exit-codes.ts";
import { openStack } from "../local-stack.ts";
import { parsePositiveNumber, parseWholeNumber } from "../parse-number.ts";
import { type SandboxFlag, WORKER_SANDBOX_OPTION } from "../sandbox-flag.ts";
import { describeCost, formatCount } from "../text.ts";
import { UsageError } from "../usage-error.ts";
import { RUN_ARGUMENT, withSuiteRun } from "./find-suite-run.ts";
import { followSuite } from "./follow-suite.ts";
import { reportDetachedRun, reportLeft, reportRun } from "./report-run.ts";
import { formatConfigurations, formatFailures, getTableWidth } from "./report-view.ts";
import { formatStatusRows, toStatusJson } from "./status-view.ts";

type ResumeFlags = SandboxFlag & { readonly retryFailed?: string | true; readonly detach?: boolean };
type SetFlags = { readonly concurrency?: string; readonly maxCost?: string };

/** Adds the commands that watch a run: `status` and `attach`. */
export function configureWatchCommands(command: Command, runAction: RunAction): void {
  command
    .command("status")
    .description("Print how far a run has come, with the scores so far")
    .argument("<run>", RUN_ARGUMENT)
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast eval status last\n  $ holdfast eval status 5f0c… --json | jq .pending",
    )
    .action(async (reference: string) => runAction((context) => showStatus(context, reference)));
  command
    .command("attach")
    .description("Watch a run until it ends, then print its report; Ctrl-C leaves, and the run continues")
    .argument("<run>", RUN_ARGUMENT)
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast eval attach last\n  $ holdfast eval attach 5f0c… --json | tail -1",
    )
    .action(async (reference: string) => runAction((context) => attach(context, reference)));
}

/** Adds the commands that change a run: `pause`, `resume`, `stop` and `set`. */
export function configureControlCommands(command: Command, runAction: RunAction): void {
  command
    .command("pause")
    .description("Begin no further cell; those in flight end")
    .argument("<run>", RUN_ARGUMENT)
    .addHelpText("after", "\nExamples:\n  $ holdfast eval pause last\n  $ holdfast eval pause 5f0c…")
    .action(async (reference: string) =>
      runAction((context) =>
        withSuiteRun(context, reference, async (run) =>
          reportChange(context, await run.pause(), "The run begins no further cell."),
        ),
      ),
    );
  command
    .command("resume")
    .description("Continue a run that is paused or was stopped, and watch it until it ends")
    .argument("<run>", RUN_ARGUMENT)
    .option("--retry-failed [class]", "ask failed cells again, all or those of one class")
    .option("--detach", "continue the run and exit; the server and its workers continue it")
    .option(...WORKER_SANDBOX_OPTION)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast eval resume last
  $ holdfast eval resume 5f0c… --retry-failed
  $ holdfast eval resume 5f0c… --retry-failed rate-limited --detach

"holdfast eval status" lists the classes of failures. Finished cells are not asked again.`,
    )
    .action(async (reference: string, flags: ResumeFlags) =>
      runAction((context) => resumeSuite(context, reference, flags)),
    );
  command
    .command("stop")
    .description("Stop a run; cells in flight stay pending")
    .argument("<run>", RUN_ARGUMENT)
    .argument("[reason]", "a reason for the record")
    .addHelpText(
      "after",
      '\nExamples:\n  $ holdfast eval stop last\n  $ holdfast eval stop 5f0c… "wrong prompt"',
    )
    .action(async (reference: string, reason: string | undefined) =>
      runAction((context) => stopSuite(context, reference, reason)),
    );
  command
    .command("set")
    .description("Change the concurrency or the budget of a run, also while it runs")
    .argument("<run>", RUN_ARGUMENT)
    .option("--concurrency <n>", "the cells that are asked side by side")
    .option("--max-cost <usd>", "the budget in dollars, or none")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast eval set last --concurrency 100\n  $ holdfast eval set 5f0c… --max-cost 20",
    )
    .action(async (reference: string, flags: SetFlags) =>
      runAction(async (context) => {
        const change = parseChange(flags);
        return await withSuiteRun(context, reference, async (run) => {
          const record = await run.change(change);
          const { concurrency, maxCostUsd } = record.control;
          const budget = maxCostUsd === null ? "no budget" : `a budget of ${describeCost(maxCostUsd)}`;
          return reportChange(
            context,
            record,
            `The run asks ${concurrency} cells side by side, with ${budget}.`,
          );
        });
      }),
    );
}

async function showStatus(context: Context, reference: string): Promise<number> {
  return withSuiteRun(context, reference, async (run) => {
    const [status, report] = await Promise.all([run.status(), run.report()]);
    if (context.json) {
      context.printJson(toStatusJson(status, report));
      return EXIT.ok;
    }
    for (const [name, value] of formatStatusRows(status))
      context.print(`${context.out.bold(name.padEnd(8))} ${value}`);
    context.print("");
    for (const line of formatConfigurations(report, getTableWidth(context))) context.print(line);
    const failures = formatFailures(report);
    if (failures.length > 0) context.print("");
    for (const line of failures) context.print(line);
    return EXIT.ok;
  });
}

async function attach(context: Context, reference: string): Promise<number> {
  return withSuiteRun(context, reference, async (run) => {
    if (!hasEnded(await run.status()) && (await followSuite(context, run, "leave")) === undefined)
      return reportLeft(context, run, []);
    return await reportRun(context, run);
  });
}

async function resumeSuite(
  context: Context,
  reference: string,
  { sandbox, retryFailed, detach }: ResumeFlags,
): Promise<number> {
  const stack = await openStack(context, { sandbox });
  try {
    if (detach === true) assertDetachable(stack);
    const { evaluations } = stack.holdfast;
    const run = evaluations.get(await evaluations.find(reference));
    if (retryFailed !== undefined) {
      const failureClass = retryFailed === true ? undefined : retryFailed;
      const retried = await run.retryFailed(failureClass);
      const ofClass = failureClass === undefined ? "" : ` of the class ${failureClass}`;
      context.report(
        retried === 0
          ? `No cell has failed${ofClass}: there is nothing to retry.`
          : context.err.dim(`Asking ${formatCount(retried, "failed cell")} again …`),
      );
    }
    const { status, pending } = await run.status();
    if (status === "ended" && pending === 0) return await reportRun(context, run);
    await run.resume();
    if (detach === true) return reportDetachedRun(context, run);
    const end = await followSuite(context, run, "stop");
    return end === undefined ? reportLeft(context, run, stack.started) : await reportRun(context, run);
  } finally {
    await stack.close();
  }
}

async function stopSuite(context: Context, reference: string, reason: string | undefined): Promise<number> {
  return withSuiteRun(context, reference, async (run) => {
    const open = await run.stop(reason);
    if (context.json) context.printJson({ type: "stop", run: run.id, open });
    else
      context.report(
        open
          ? `The run is asked to stop. To continue it: \`holdfast eval resume ${run.id}\`.`
          : "The run has already ended.",
      );
    return EXIT.ok;
  });
}

/** Parses the flags of `eval set`. @throws UsageError If there is none, or a value is none. */
export function parseChange({ concurrency, maxCost }: SetFlags): Partial<SuiteControl> {
  if (concurrency === undefined && maxCost === undefined)
    throw new UsageError("Nothing is given to change. Specify --concurrency or --max-cost.");
  return {
    ...(concurrency === undefined ? {} : { concurrency: parseWholeNumber("--concurrency", concurrency) }),
    ...(maxCost === undefined
      ? {}
      : { maxCostUsd: maxCost === "none" ? null : parsePositiveNumber("--max-cost", maxCost) }),
  };
}

function reportChange(context: Context, { id, status, control }: SuiteRunRecord, text: string): number {
  if (context.json) context.printJson({ type: "changed", run: id, status, ...control });
  else
    context.report(
      hasEnded({ status }) ? `${text} It has ended: \`holdfast eval resume ${id}\` continues it.` : text,
    );
  return EXIT.ok;
}
