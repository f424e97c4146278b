import { type Command, Option } from "commander";
import {
  type CellState,
  getMessageText,
  type Holdfast,
  type ReadCellsOptions,
  type SuiteCell,
  type SuiteRun,
} from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { withHoldfast } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { parseWholeNumber } from "../parse-number.ts";
import { formatCase, formatCellDetails, formatCells } from "./cell-view.ts";
import { formatRunComparison, listComparisonNotes } from "./comparison-view.ts";
import { RUN_ARGUMENT, withSuiteRun } from "./find-suite-run.ts";

type ShowFlags = {
  readonly case?: string;
  readonly configuration?: string;
  readonly state?: CellState;
  readonly limit: string;
};

/** Adds the commands that display cells: `show` and `compare`. */
export function configureCellCommands(command: Command, runAction: RunAction): void {
  command
    .command("show")
    .description("Print the cells of a run with their scores and sessions")
    .argument("<run>", RUN_ARGUMENT)
    .option("--case <id>", "only this case: what it asks, the answers, and why they have their scores")
    .option("--configuration <name>", "only this configuration")
    .addOption(
      new Option("--state <state>", "only cells in this state").choices([
        "pending",
        "finished",
        "failed",
      ] satisfies CellState[]),
    )
    .option("-n, --limit <n>", "the maximum number of cells", "50")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast eval show last --state failed
  $ holdfast eval show 5f0c… --case capital-of-france
  $ holdfast eval show 5f0c… --configuration small --json | jq .scores

"holdfast show SESSION" prints the whole conversation of a cell.`,
    )
    .action(async (reference: string, flags: ShowFlags) =>
      runAction((context) => showCells(context, reference, flags)),
    );
  command
    .command("compare")
    .description("Compare a run with an earlier one: tests of the scores, and what has changed case by case")
    .argument("<earlier>", RUN_ARGUMENT)
    .argument("<later>", RUN_ARGUMENT)
    .option("-n, --limit <n>", "the maximum number of changed cases", "20")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast eval compare 5f0c… last\n  $ holdfast eval compare 5f0c… 77ab… --json | jq .changed",
    )
    .action(async (earlier: string, later: string, { limit }: { readonly limit: string }) =>
      runAction((context) => compareRuns(context, earlier, later, parseWholeNumber("--limit", limit))),
    );
}

async function showCells(context: Context, reference: string, flags: ShowFlags): Promise<number> {
  const { case: caseId, configuration, state } = flags;
  const limit = parseWholeNumber("--limit", flags.limit);
  return withSuiteRun(context, reference, async (run, holdfast) => {
    const options: ReadCellsOptions = omitUndefined({ caseId, configuration, state });
    const { cells, hasMore } = await readCells(run, options, limit);
    if (context.json) {
      for (const cell of cells) context.printJson({ type: "cell", ...cell });
      if (hasMore) context.printJson({ type: "more" });
    } else if (caseId !== undefined) {
      for (const line of formatCase(context, await run.readCase(caseId))) context.print(line);
      for (const cell of cells) {
        context.print("");
        const answer = await readAnswer(holdfast, cell);
        for (const line of formatCellDetails(context, cell, answer)) context.print(line);
      }
    } else if (cells.length === 0) context.report("No such cells.");
    else for (const line of formatCells(context, cells)) context.print(line);
    if (hasMore && !context.json)
      context.report(
        context.err.dim(
          `There are more cells: raise --limit, or export all: \`holdfast eval export ${run.id} --csv\`.`,
        ),
      );
    return EXIT.ok;
  });
}

async function readCells(
  run: SuiteRun,
  options: ReadCellsOptions,
  limit: number,
): Promise<{ readonly cells: readonly SuiteCell[]; readonly hasMore: boolean }> {
  const cells: SuiteCell[] = [];
  for await (const cell of run.cells(options)) {
    if (cells.length === limit) return { cells, hasMore: true };
    cells.push(cell);
  }
  return { cells, hasMore: false };
}

/** Reads the last answer of a cell's session. Absent if the session was deleted. */
async function readAnswer(holdfast: Holdfast, { result }: SuiteCell): Promise<string | undefined> {
  if (result?.session === undefined) return undefined;
  const branch = omitUndefined({ branch: result.branch });
  try {
    const entries = await holdfast.session(result.session).messages.list(branch);
    const last = entries.findLast(({ message }) => message.role === "assistant");
    return last === undefined ? undefined : getMessageText(last.message);
  } catch {
    return undefined;
  }
}

async function compareRuns(context: Context, earlier: string, later: string, limit: number): Promise<number> {
  return withHoldfast(context, async ({ evaluations }) => {
    const comparison = await evaluations.compare(earlier, later);
    if (context.json) context.printJson({ type: "comparison", ...comparison });
    else {
      for (const note of listComparisonNotes(comparison)) context.report(context.err.yellow(note));
      for (const line of formatRunComparison(context, comparison, limit)) context.print(line);
    }
    return EXIT.ok;
  });
}
