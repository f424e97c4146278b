import type { Command } from "commander";
import type { StatusWord } from "../../../client/index.ts";
import { nearestName } from "../../../platform/text/nearest-name.ts";
import { wholeNumber } from "../agent-flags.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { table } from "../table.ts";
import { UsageError } from "../usage-error.ts";
import { costCell } from "../words.ts";

type Flags = { readonly status?: string; readonly agent?: string; readonly limit: string };

export const STATUS_WORDS = [
  "running",
  "waiting",
  "needs-approval",
  "stopping",
  "completed",
  "limit-reached",
  "failed",
  "stopped",
] as const satisfies readonly StatusWord[];

export function listCommand(
  program: Command,
  act: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  program
    .command("list")
    .alias("ls")
    .description("List sessions, the newest first")
    .option("--status <word>", STATUS_WORDS.join(", "))
    .option("--agent <name>", "of this agent only")
    .option("-n, --limit <n>", "at most so many", "20")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast list --status running
  $ holdfast list --status needs-approval
  $ holdfast list --agent reviewer --limit 100 --json`,
    )
    .action(async (flags: Flags) => act((context) => list(context, flags)));
}

async function list(context: Context, flags: Flags): Promise<number> {
  const options = {
    limit: wholeNumber("--limit", flags.limit),
    ...(flags.status === undefined ? {} : { status: statusFrom(flags.status) }),
    ...(flags.agent === undefined ? {} : { agent: flags.agent }),
  };
  return withHoldfast(context, async (holdfast) => {
    const sessions = await holdfast.list(options);
    if (context.json) for (const session of sessions) context.printJson(session);
    else if (sessions.length === 0) context.tell("No sessions.");
    else {
      const rows = sessions.map((session) => [
        session.session,
        session.status,
        session.agent ?? "",
        session.model ?? "",
        session.turns === undefined ? "" : `${session.turns}`,
        costCell(session.costUsd),
        session.startedAt.toISOString().slice(0, 19).replace("T", " "),
      ]);
      const head = ["SESSION", "STATUS", "AGENT", "MODEL", "TURNS", "USD", "STARTED (UTC)"];
      const roots = sessions.map(({ root }) => root ?? "");
      const isForest = roots.some((root) => root !== "");
      const lines = [head, ...rows].map((row, at) => [
        ...row,
        ...(isForest ? [roots[at - 1] ?? "ROOT"] : []),
      ]);
      for (const line of table(lines)) context.print(line);
    }
    return EXIT.ok;
  });
}

export function statusFrom(text: string): StatusWord {
  const word = STATUS_WORDS.find((one) => one === text);
  if (word !== undefined) return word;
  const near = nearestName(text, STATUS_WORDS);
  throw new UsageError(
    `--status "${text}" is not a status. ${near === undefined ? `Known: ${STATUS_WORDS.join(", ")}.` : `Did you mean "${near}"?`}`,
  );
}
