import type { SuiteReport, SuiteRun } from "../../../client/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { LocalStack } from "../local-stack.ts";
import { formatReport, summarizeRun } from "./report-view.ts";
import { getRunExitCode } from "./run-exit-code.ts";

/** Describes what a run misses: thresholds, or the scores of an earlier run. */
export type FindMisses = (report: SuiteReport) => Promise<readonly string[]> | readonly string[];

/**
 * Prints the report of a run that has ended: tables on standard output, the summary on standard error. Returns the exit code.
 *
 * A run that has failed or has failed cells says so with its exit code; only a complete one is held against thresholds there.
 */
export async function reportRun(
  context: Context,
  run: SuiteRun,
  findMisses: FindMisses = () => [],
): Promise<number> {
  const report = await run.report();
  const misses = report.status === "ended" ? await findMisses(report) : [];
  const ownCode = getRunExitCode(report);
  const exitCode = ownCode === EXIT.ok && misses.length > 0 ? EXIT.thresholdMissed : ownCode;
  if (context.json) {
    context.printJson({ type: "report", ...report, misses, exitCode });
    return exitCode;
  }
  for (const line of formatReport(context, report)) context.print(line);
  for (const miss of misses) context.report(context.err.red(miss));
  const summary = summarizeRun(report);
  context.report(exitCode === EXIT.ok ? context.err.dim(summary) : context.err.red(summary));
  for (const hint of listHints(report)) context.report(context.err.dim(hint));
  return exitCode;
}

function listHints({ id, status, pending, failed }: SuiteReport): readonly string[] {
  return [
    ...(failed > 0
      ? [
          `The failed cells: \`holdfast eval show ${id} --state failed\`. To ask them again: \`holdfast eval resume ${id} --retry-failed\`.`,
        ]
      : []),
    ...(status !== "ended" && pending > 0 ? [`To continue it: \`holdfast eval resume ${id}\`.`] : []),
  ];
}

/** Reports that the user has left a run that goes on. */
export function reportLeft(context: Context, { id }: SuiteRun, started: LocalStack["started"]): number {
  context.report(
    context.err.yellow(
      started.length === 0
        ? `Left. The run continues; \`holdfast eval attach ${id}\` displays it.`
        : `Left. The run continues when a server and a worker run again: \`holdfast eval resume ${id}\` starts them.`,
    ),
  );
  return EXIT.interrupted;
}

/** Reports a run that continues without this command. */
export function reportDetachedRun(context: Context, { id }: SuiteRun): number {
  if (context.json) context.printJson({ type: "started", run: id });
  else {
    context.print(id);
    context.report(
      context.err.dim(
        `To watch it: \`holdfast eval attach ${id}\`. Its scores: \`holdfast eval status ${id}\`.`,
      ),
    );
  }
  return EXIT.ok;
}
