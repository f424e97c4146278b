import { type Command, Option } from "commander";
import type {
  Holdfast,
  JobSummary,
  ListOptions,
  SessionSummary,
  SessionsPage,
} from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { withHoldfast } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import {
  addSessionFilters,
  matchesFilters,
  parseSessionFilters,
  type SessionFilterFlags,
} from "../session-filters.ts";
import { formatRows, type ListedRow, toJobRow } from "../session-table.ts";
import { UsageError } from "../usage-error.ts";

type Order = "active" | "cost";

type Flags = SessionFilterFlags & {
  readonly children: boolean;
  readonly after?: string;
  readonly sort: Order;
};

export function configureListCommand(command: Command, runAction: RunAction): void {
  addSessionFilters(
    command
      .option("--no-children", "leave out sessions of sub-agents")
      .addOption(
        new Option("--sort <order>", "what comes first: the most recently active, or the highest cost")
          .choices(["active", "cost"] satisfies Order[])
          .default("active"),
      )
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
  $ holdfast list --sort cost --since 7d
  $ holdfast list --cost-over 5 --no-children

At a terminal, the table fits its width: ids are cut to a beginning that every command takes. In a pipe it has every column.`,
    )
    .action(async (flags: Flags) => runAction((context) => list(context, flags)));
}

async function list(context: Context, { children, after, sort, ...flags }: Flags): Promise<number> {
  if (sort === "cost" && after !== undefined)
    throw new UsageError(
      "--sort cost has one page, so it does not take --after. For more sessions, raise --limit.",
    );
  const options = { ...parseSessionFilters(flags), children, ...omitUndefined({ after }) };
  return withHoldfast(context, async (holdfast) => {
    const [page, jobs] = await Promise.all([
      sort === "cost" ? listByCost(holdfast, options) : holdfast.sessions.list(options),
      listJobs(holdfast, options),
    ]);
    if (context.json) {
      for (const session of page.sessions) context.printJson({ type: "session", ...session });
      for (const job of jobs) context.printJson({ type: "job", ...job });
      if (page.after !== undefined) context.printJson({ type: "more", after: page.after });
    } else if (page.sessions.length + jobs.length === 0) context.report("No sessions.");
    else {
      const rows = [...page.sessions.map(toSessionRow), ...jobs.map(toJobRow)];
      const sorted = sort === "cost" ? rows.sort(compareCosts) : sortByActivity(rows, page.sessions.length);
      for (const line of formatRows(context, sorted, Date.now())) context.print(line);
      if (page.after !== undefined) context.report(`More sessions: --after ${page.after}`);
    }
    return EXIT.ok;
  });
}

/** Lists the sessions that cost most. The transcript has no order by cost, so this reads all sessions that match. */
async function listByCost(holdfast: Holdfast, options: ListOptions): Promise<SessionsPage> {
  const sessions: SessionSummary[] = [];
  let after: string | undefined;
  do {
    const page = await holdfast.sessions.list({ ...options, limit: 500, ...omitUndefined({ after }) });
    sessions.push(...page.sessions);
    after = page.after;
  } while (after !== undefined);
  return { sessions: sessions.sort(compareCosts).slice(0, options.limit) };
}

/** Puts the highest cost first, and unknown ones last. */
function compareCosts(a: Pick<SessionSummary, "costUsd">, b: Pick<SessionSummary, "costUsd">): number {
  return (b.costUsd ?? -1) - (a.costUsd ?? -1);
}

/** Lists the jobs of the first page. A job has no agent and no model of its own, so filters by these exclude it. */
async function listJobs(
  holdfast: Holdfast,
  { agent, model, status, limit, after, ...filters }: ListOptions,
): Promise<readonly JobSummary[]> {
  if ((after ?? agent ?? model) !== undefined) return [];
  const jobs = await holdfast.jobs.list(omitUndefined({ status, limit }));
  return jobs.filter((job) => matchesFilters(job, filters));
}

function toSessionRow({ session, ...rest }: SessionSummary): ListedRow {
  return { id: session, ...rest };
}

/** Sessions keep their order, because open ones that only the server has come first. Jobs are put between them by time. */
function sortByActivity(rows: readonly ListedRow[], sessions: number): readonly ListedRow[] {
  const sorted = rows.slice(0, sessions);
  for (const job of rows.slice(sessions)) {
    const at = sorted.findIndex(({ lastActiveAt }) => lastActiveAt < job.lastActiveAt);
    sorted.splice(at === -1 ? sorted.length : at, 0, job);
  }
  return sorted;
}
