import type { Command } from "commander";
import type { SuiteRunRecord } from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { askYesNo, canAsk } from "../accept-import.ts";
import { withHoldfast } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { parseWholeNumber } from "../parse-number.ts";
import { type Column, formatColumns } from "../table.ts";
import { shortenText } from "../text.ts";
import { UsageError } from "../usage-error.ts";
import { RUN_ARGUMENT, withSuiteRun } from "./find-suite-run.ts";
import { getTableWidth } from "./report-view.ts";
import { formatTime } from "./time-text.ts";

type ListFlags = { readonly tag?: string; readonly name?: string; readonly limit: string };

/** Adds the commands for stored runs as a whole: `list` and `delete`. */
export function configureStoredRunCommands(command: Command, runAction: RunAction): void {
  command
    .command("list")
    .alias("ls")
    .description("List runs, the newest first")
    .option("--tag <tag>", "only runs with this tag")
    .option("--name <suite>", "only runs of this suite")
    .option("-n, --limit <n>", "the maximum number of runs", "20")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast eval list\n  $ holdfast eval list --name arithmetic --json | jq .id",
    )
    .action(async (flags: ListFlags) => runAction((context) => listRuns(context, flags)));
  command
    .command("delete")
    .description("Delete a run that has ended; the sessions and answers of its cells stay")
    .argument("<run>", RUN_ARGUMENT)
    .option("-y, --yes", "do not ask for confirmation")
    .addHelpText("after", "\nExamples:\n  $ holdfast eval delete 5f0c…\n  $ holdfast eval delete 5f0c… --yes")
    .action(async (reference: string, { yes = false }: { readonly yes?: boolean }) =>
      runAction((context) => deleteRun(context, reference, yes)),
    );
}

async function listRuns(context: Context, { tag, name, limit }: ListFlags): Promise<number> {
  const options = { limit: parseWholeNumber("--limit", limit), ...omitUndefined({ tag, name }) };
  return withHoldfast(context, async (holdfast) => {
    const runs = await holdfast.evaluations.list(options);
    if (context.json) for (const run of runs) context.printJson(toListJson(run));
    else if (runs.length === 0) context.report("No runs.");
    else for (const line of formatRuns(context, runs)) context.print(line);
    return EXIT.ok;
  });
}

function toListJson({ plan, scorers: _scorers, ...rest }: SuiteRunRecord): object {
  const configurations = plan.configurations.map(({ name }) => name);
  return { type: "run", name: plan.name, tags: plan.tags, configurations, ...rest };
}

function formatRuns(context: Context, runs: readonly SuiteRunRecord[]): readonly string[] {
  const columns: readonly Column<SuiteRunRecord>[] = [
    { head: "RUN", read: ({ id }) => shortenRunId(context, id, runs) },
    { head: "STATUS", read: ({ status }) => status },
    { head: "CREATED (UTC)", read: ({ createdAtMs }) => formatTime(createdAtMs), rank: 2 },
    { head: "CELLS", read: ({ cells }) => String(cells), rank: 1 },
    { head: "REUSED", read: ({ reused }) => (reused === 0 ? "" : String(reused)), rank: 4 },
    { head: "SUITE", read: ({ plan }) => shortenText(plan.name, MAX_NAME_CHARS), isFlexible: true },
    { head: "TAGS", read: ({ plan }) => shortenText(plan.tags.join(", "), MAX_NAME_CHARS), rank: 3 },
    { head: "REASON", read: ({ reason }) => shortenText(reason ?? "", MAX_NAME_CHARS), rank: 5 },
  ];
  return formatColumns(columns, runs, getTableWidth(context));
}

const MAX_NAME_CHARS = 60;
/** `suite-` and the first group of the random id. */
const MIN_ID_CHARS = 14;

/** At a terminal, returns the shortest beginning of an id that is unique in the list; commands take it. */
function shortenRunId(context: Context, id: string, runs: readonly SuiteRunRecord[]): string {
  if (context.streams.stdout.isTTY !== true) return id;
  let length = MIN_ID_CHARS;
  const isShared = () => runs.some((other) => other.id !== id && other.id.startsWith(id.slice(0, length)));
  while (length < id.length && isShared()) length += 1;
  return id.slice(0, length);
}

async function deleteRun(context: Context, reference: string, yes: boolean): Promise<number> {
  return withSuiteRun(context, reference, async (run) => {
    if (!yes) await confirmDeletion(context, run.id);
    await run.delete();
    if (context.json) context.printJson({ type: "deleted", run: run.id });
    else context.report(`Run ${run.id} is deleted. The sessions and answers of its cells stay.`);
    return EXIT.ok;
  });
}

async function confirmDeletion(context: Context, id: string): Promise<void> {
  if (!canAsk(context))
    throw new UsageError(
      `Nothing was deleted: without a terminal, the command cannot ask for confirmation. Confirm with --yes: holdfast eval delete ${id} --yes`,
    );
  if (!(await askYesNo(context, `Delete run ${id} permanently? y/N `)))
    throw new UsageError('Nothing was deleted: the answer was not "yes".');
}
