import type { Command } from "commander";
import type { FindOptions, StatusCode } from "../../../client/index.ts";
import { STATUS_CODES } from "../../../core/machine/status-code.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { parseWholeNumber } from "../agent-flags.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { stripControls } from "../palette.ts";
import { formatTable } from "../table.ts";
import { formatCostCell } from "../text.ts";
import { UsageError } from "../usage-error.ts";
import { parseStatus } from "./list.ts";

type RunAction = (work: (context: Context) => Promise<number>) => Promise<void>;
type FindFlags = {
  readonly agent?: string;
  readonly model?: string;
  readonly status?: string;
  readonly since?: string;
  readonly until?: string;
  readonly costOver?: string;
  readonly limit: string;
};
type Flags = FindFlags & { readonly children?: boolean; readonly after?: string };

export function addSessionsCommand(program: Command, runAction: RunAction): void {
  addFilterOptions(
    program
      .command("sessions")
      .description("List sessions by their properties, in pages, the most recently active first")
      .option("--children", "include sessions of sub-agents")
      .option("--after <page>", "the next page, with the value that the previous page printed"),
    "50",
  )
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast sessions --agent reviewer --since 7d
  $ holdfast sessions --cost-over 5 --json`,
    )
    .action(async (flags: Flags) => runAction((context) => listSessions(context, flags)));
}

export function addSearchCommand(program: Command, runAction: RunAction): void {
  addFilterOptions(
    program
      .command("search")
      .description("Find messages by their text, the newest session first")
      .argument("<query>", 'words that a message must all contain; "a phrase" in quotes, wor* for a prefix'),
    "20",
  )
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast search "flaky test"
  $ holdfast search '"connection reset" retr*' --agent builder --since 2026-01-01`,
    )
    .action(async (query: string, flags: FindFlags) =>
      runAction((context) => searchSessions(context, query, flags)),
    );
}

function addFilterOptions(command: Command, limit: string): Command {
  return command
    .option("--agent <name>", "only sessions of this agent")
    .option("--model <id>", "only sessions of this model")
    .option("--status <status>", STATUS_CODES.join(", "))
    .option("--since <time>", "only sessions active since: 30m, 12h, 7d, or a date")
    .option("--until <time>", "only sessions active before this time")
    .option("--cost-over <usd>", "only sessions that cost more")
    .option("-n, --limit <n>", "the maximum number of results", limit);
}

function parseFilters({ agent, model, status, since, until, costOver, limit }: FindFlags): FindOptions {
  return {
    limit: parseWholeNumber("--limit", limit),
    ...omitUndefined({ agent, model }),
    ...(status === undefined ? {} : { status: parseStatus(status) satisfies StatusCode }),
    ...(since === undefined ? {} : { since: parseTime("--since", since) }),
    ...(until === undefined ? {} : { until: parseTime("--until", until) }),
    ...(costOver === undefined ? {} : { costOver: parseAmount(costOver) }),
  };
}

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Parses a time span before the present, or a date. */
function parseTime(flag: string, text: string): Date {
  const [, amount, unit] = /^(\d+)\s*([smhdw])$/.exec(text.trim()) ?? [];
  const timeMs =
    amount === undefined ? Date.parse(text) : Date.now() - Number(amount) * UNITS[unit as keyof typeof UNITS];
  if (Number.isFinite(timeMs)) return new Date(timeMs);
  throw new UsageError(`${flag} "${text}" must be a time such as 30m, 12h, 7d, or a date such as 2026-01-31`);
}

function parseAmount(text: string): number {
  const amount = Number(text);
  if (Number.isFinite(amount) && amount >= 0) return amount;
  throw new UsageError(`--cost-over "${text}" must be a number of dollars`);
}

async function listSessions(context: Context, { children = false, after, ...flags }: Flags): Promise<number> {
  const options = { ...parseFilters(flags), children, ...omitUndefined({ after }) };
  return withHoldfast(context, async (holdfast) => {
    const page = await holdfast.sessions.list(options);
    if (context.json) {
      for (const one of page.sessions) context.printJson({ type: "session", ...one });
      if (page.after !== undefined) context.printJson({ type: "more", after: page.after });
      return EXIT.ok;
    }
    if (page.sessions.length === 0) context.report("No sessions.");
    else {
      const rows = page.sessions.map((one) => [
        one.session,
        one.status,
        one.agent ?? "",
        one.model ?? "",
        `${one.loops ?? ""}`,
        `${one.turns ?? ""}`,
        formatCostCell(one.costUsd),
        one.lastActiveAt.toISOString().slice(0, 19).replace("T", " "),
        one.scope === "persistent" ? "persistent" : "",
      ]);
      const head = ["SESSION", "STATUS", "AGENT", "MODEL", "LOOPS", "TURNS", "USD", "LAST ACTIVE (UTC)", ""];
      for (const line of formatTable([head, ...rows])) context.print(line);
      if (page.after !== undefined) context.report(`More sessions: --after ${page.after}`);
    }
    return EXIT.ok;
  });
}

async function searchSessions(context: Context, query: string, flags: FindFlags): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const hits = await holdfast.sessions.search(query, parseFilters(flags));
    if (context.json) for (const hit of hits) context.printJson({ type: "hit", ...hit });
    else if (hits.length === 0) context.report("No messages match.");
    else {
      for (const { session, agent, position, role, at, snippet, branch } of hits) {
        const when = at === undefined ? "" : ` · ${at.toISOString().slice(0, 16).replace("T", " ")}`;
        context.print(
          context.out.bold(`${session} #${position} ${role}`) +
            context.out.dim(` ${agent}${when} · ${branch}`),
        );
        context.print(`  ${stripControls(snippet)}`);
      }
    }
    return EXIT.ok;
  });
}
