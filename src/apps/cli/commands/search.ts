import type { Command } from "commander";
import { withHoldfast } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { stripControls } from "../palette.ts";
import { addSessionFilters, parseSessionFilters, type SessionFilterFlags } from "../session-filters.ts";

export function configureSearchCommand(command: Command, runAction: RunAction): void {
  addSessionFilters(
    command.argument(
      "<query>",
      'words that a message must all contain; "a phrase" in quotes, wor* for a prefix',
    ),
    "20",
  )
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast search "flaky test"
  $ holdfast search '"connection reset" retr*' --agent builder --since 2026-01-01`,
    )
    .action(async (query: string, flags: SessionFilterFlags) =>
      runAction((context) => searchSessions(context, query, flags)),
    );
}

async function searchSessions(context: Context, query: string, flags: SessionFilterFlags): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const hits = await holdfast.sessions.search(query, parseSessionFilters(flags));
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
