import type { Command } from "commander";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { UsageError } from "../usage-error.ts";

type RunAction = (work: (context: Context) => Promise<number>) => Promise<void>;
type Flags = { readonly history?: boolean; readonly stop?: boolean; readonly yes?: boolean };

export function addDeleteCommand(program: Command, runAction: RunAction): void {
  program
    .command("delete")
    .description("Delete a session for good, with those of agents below it")
    .argument("<session>", "the session's id")
    .option("--history", "Temporal's history of its runs too")
    .option("--stop", "stop a run that is open first")
    .option("-y, --yes", "do not ask")
    .addHelpText(
      "after",
      `
Files that its agent has written stay. What was interrupted is finished by asking again.

Examples:
  $ holdfast delete 5f0c…
  $ holdfast delete 5f0c… --stop --history --yes`,
    )
    .action(async (session: string, flags: Flags) =>
      runAction((context) => deleteSession(context, session, flags)),
    );
}

async function deleteSession(
  context: Context,
  session: string,
  { history = false, stop = false, yes = false }: Flags,
): Promise<number> {
  if (!yes) await confirmDeletion(context, session);
  return withHoldfast(context, async (holdfast) => {
    const deleted = await holdfast.session(session).delete({ history, stop });
    if (context.json) context.printJson({ type: "deleted", ...deleted });
    else {
      const others =
        deleted.sessions.length > 1 ? ` with ${deleted.sessions.length - 1} of agents below it` : "";
      context.report(`Session ${session} is gone${others}.`);
    }
    return EXIT.ok;
  });
}

/** Asks at a terminal; elsewhere the flag must say it. */
async function confirmDeletion(context: Context, session: string): Promise<void> {
  const { stdin } = context.streams;
  if (stdin.isTTY !== true || context.json) {
    throw new UsageError(`Nothing was deleted. Say that you mean it: holdfast delete ${session} --yes`);
  }
  context.report(`Delete session ${session} for good? Type "yes":`);
  const typed = await new Promise<string>((resolve) => {
    const listen = (chunk: unknown) => {
      stdin.off("data", listen);
      stdin.pause();
      resolve(String(chunk));
    };
    stdin.on("data", listen);
    stdin.resume();
  });
  if (typed.trim().toLowerCase() !== "yes") throw new UsageError("Nothing was deleted.");
}
