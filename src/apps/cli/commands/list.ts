import type { Command } from "commander";
import type { StatusCode } from "../../../client/index.ts";
import { STATUS_CODES } from "../../../core/machine/status-code.ts";
import { findNearestName } from "../../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { parseWholeNumber } from "../agent-flags.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { formatTable } from "../table.ts";
import { formatCostCell } from "../text.ts";
import { UsageError } from "../usage-error.ts";

type Flags = { readonly status?: string; readonly agent?: string; readonly limit: string };

export function addListCommand(
  program: Command,
  runAction: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  program
    .command("list")
    .alias("ls")
    .description("List sessions, the most recently active first")
    .option("--status <status>", STATUS_CODES.join(", "))
    .option("--agent <name>", "only sessions of this agent")
    .option("-n, --limit <n>", "the maximum number of sessions", "20")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast list --status running
  $ holdfast list --status needs-approval
  $ holdfast list --agent reviewer --limit 100 --json`,
    )
    .action(async (flags: Flags) => runAction((context) => list(context, flags)));
}

async function list(context: Context, flags: Flags): Promise<number> {
  const options = {
    limit: parseWholeNumber("--limit", flags.limit),
    ...(flags.status === undefined ? {} : { status: parseStatus(flags.status) }),
    ...omitUndefined({ agent: flags.agent }),
  };
  return withHoldfast(context, async (holdfast) => {
    const { sessions } = await holdfast.sessions.list({ ...options, children: true });
    if (context.json) for (const session of sessions) context.printJson(session);
    else if (sessions.length === 0) context.report("No sessions.");
    else {
      const rows = sessions.map((session) => [
        session.session,
        session.status,
        session.agent ?? "",
        session.model ?? "",
        session.turns === undefined ? "" : `${session.turns}`,
        formatCostCell(session.costUsd),
        session.createdAt.toISOString().slice(0, 19).replace("T", " "),
      ]);
      const head = ["SESSION", "STATUS", "AGENT", "MODEL", "TURNS", "USD", "STARTED (UTC)"];
      const roots = sessions.map(({ root }) => root ?? "");
      const isForest = roots.some((root) => root !== "");
      const lines = [head, ...rows].map((row, at) => [
        ...row,
        ...(isForest ? [roots[at - 1] ?? "ROOT"] : []),
      ]);
      for (const line of formatTable(lines)) context.print(line);
    }
    return EXIT.ok;
  });
}

export function parseStatus(text: string): StatusCode {
  const status = STATUS_CODES.find((one) => one === text);
  if (status !== undefined) return status;
  const near = findNearestName(text, STATUS_CODES);
  throw new UsageError(
    `--status "${text}" is not a status. ${near === undefined ? `Use one of ${STATUS_CODES.join(", ")}.` : `Did you mean "${near}"?`}`,
  );
}
