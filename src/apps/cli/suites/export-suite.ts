import { once } from "node:events";
import type { Command } from "commander";
import type { SuiteCell } from "../../../client/index.ts";
import { toCsvLine } from "../../../evaluation/report/index.ts";
import { getScorerName } from "../../../schema/scorer-name.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { printCsvLine, printJsonLine } from "../output.ts";
import { UsageError } from "../usage-error.ts";
import { RUN_ARGUMENT, withSuiteRun } from "./find-suite-run.ts";

export function configureExportSuiteCommand(command: Command, runAction: RunAction): void {
  command
    .description("Print all cells of a run as CSV, or with --json as lines of JSON")
    .argument("<run>", RUN_ARGUMENT)
    .option("--csv", "one line a cell, with a column for each score")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast eval export last --csv > cells.csv\n  $ holdfast eval export 5f0c… --json | gzip > cells.jsonl.gz",
    )
    .action(async (reference: string, { csv = false }: { readonly csv?: boolean }) =>
      runAction((context) => exportCells(context, reference, csv)),
    );
}

async function exportCells(context: Context, reference: string, csv: boolean): Promise<number> {
  if (csv === context.json)
    throw new UsageError(
      "Specify one format: --csv or --json, for example `holdfast eval export RUN --csv`.",
    );
  const { stdout } = context.streams;
  return withSuiteRun(context, reference, async (run) => {
    const { plan } = await run.status();
    const names = plan.scorers.map(getScorerName);
    if (csv) printCsvLine(stdout, toCsvLine(listCsvHeads(names)));
    for await (const cell of run.cells()) {
      const hasRoom = csv
        ? printCsvLine(stdout, toCsvLine(listCsvFields(cell, names)))
        : printJsonLine(stdout, `${JSON.stringify({ type: "cell", ...cell })}\n`);
      if (!hasRoom) await once(stdout, "drain");
    }
    return EXIT.ok;
  });
}

const FACTS = [
  "outcome",
  "attempt",
  "costUsd",
  "turns",
  "durationMs",
  "paidAnswers",
  "storedAnswers",
  "session",
  "message",
] as const;

/** Lists the columns. A score has two: its value, and how it came about. */
export function listCsvHeads(scores: readonly string[]): readonly string[] {
  return [
    "caseId",
    "configuration",
    "repetition",
    "state",
    ...scores.flatMap((name) => [name, `${name}.class`]),
    "inputTokens",
    "outputTokens",
    ...FACTS,
  ];
}

export function listCsvFields(
  cell: SuiteCell,
  scores: readonly string[],
): readonly (string | number | null | undefined)[] {
  const { caseId, configurationName, repetition, state, result } = cell;
  return [
    caseId,
    configurationName,
    repetition,
    state,
    ...scores.flatMap((name) => {
      const score = cell.scores.find((one) => one.name === name)?.score;
      return [score?.value, score?.class];
    }),
    result?.usage.input,
    result?.usage.output,
    ...FACTS.map((fact) => result?.[fact]),
  ];
}
