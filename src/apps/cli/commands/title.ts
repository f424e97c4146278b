import type { Command } from "commander";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT, withSession } from "../find-session.ts";

export function configureTitleCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .argument("<title...>", "the title: up to 120 characters on one line")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast title 5f0c… "Release notes of 2.1"
  $ holdfast title 5f0c… Upgrade the database --json`,
    )
    .action(async (session: string, title: string[]) =>
      runAction((context) => setTitle(context, session, title.join(" "))),
    );
}

async function setTitle(context: Context, reference: string, requestedTitle: string): Promise<number> {
  return withSession(context, reference, async (holdfast, session) => {
    const title = await holdfast.session(session).setTitle(requestedTitle);
    if (context.json) context.printJson({ type: "title", session, title });
    else context.print(title);
    return EXIT.ok;
  });
}
