import type { Command } from "commander";
import type { SessionSummary } from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { withHoldfast } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { addSessionFilters, parseSessionFilters, type SessionFilterFlags } from "../session-filters.ts";
import { formatTable } from "../table.ts";
import { formatCostCell, shortenText } from "../text.ts";

type Flags = SessionFilterFlags & { readonly children: boolean; readonly after?: string };

const MAX_TITLE_CELL = 40;

export function configureListCommand(command: Command, runAction: RunAction): void {
  addSessionFilters(
    command
      .option("--no-children", "leave out sessions of sub-agents")
      .option("--after <page>", "the next page, with the value that the previous page printed"),
    "20",
  )
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast list --status running
  $ holdfast list --status needs-approval
  $ holdfast list --agent reviewer --since 7d --limit 100 --json
  $ holdfast list --cost-over 5 --no-children`,
    )
    .action(async (flags: Flags) => runAction((context) => list(context, flags)));
}

async function list(context: Context, { children, after, ...flags }: Flags): Promise<number> {
  const options = { ...parseSessionFilters(flags), children, ...omitUndefined({ after }) };
  return withHoldfast(context, async (holdfast) => {
    const page = await holdfast.sessions.list(options);
    if (context.json) {
      for (const session of page.sessions) context.printJson({ type: "session", ...session });
      if (page.after !== undefined) context.printJson({ type: "more", after: page.after });
    } else if (page.sessions.length === 0) context.report("No sessions.");
    else {
      for (const line of formatTable(buildRows(page.sessions))) context.print(line);
      if (page.after !== undefined) context.report(`More sessions: --after ${page.after}`);
    }
    return EXIT.ok;
  });
}

/** Builds the rows of the table, the head first. A column without a value in any row is left out. */
function buildRows(sessions: readonly SessionSummary[]): readonly (readonly string[])[] {
  const columns: readonly (readonly [string, (session: SessionSummary) => string])[] = [
    ["SESSION", ({ session }) => session],
    ["TITLE", ({ title }) => shortenText(title ?? "", MAX_TITLE_CELL)],
    ["STATUS", ({ status }) => status],
    ["AGENT", ({ agent }) => agent ?? ""],
    ["MODEL", ({ model }) => model ?? ""],
    ["LOOPS", ({ loops }) => `${loops ?? ""}`],
    ["TURNS", ({ turns }) => `${turns ?? ""}`],
    ["USD", ({ costUsd }) => formatCostCell(costUsd)],
    ["LAST ACTIVE (UTC)", ({ lastActiveAt }) => lastActiveAt.toISOString().slice(0, 19).replace("T", " ")],
    ["SCOPE", ({ scope }) => (scope === "persistent" ? scope : "")],
    ["ROOT", ({ root }) => root ?? ""],
  ];
  const used = columns.filter(([, read]) => sessions.some((session) => read(session) !== ""));
  return [used.map(([head]) => head), ...sessions.map((session) => used.map(([, read]) => read(session)))];
}
