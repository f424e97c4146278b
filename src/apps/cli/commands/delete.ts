import type { Command } from "commander";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT, withSession } from "../find-session.ts";
import { UsageError } from "../usage-error.ts";

type Flags = { readonly history?: boolean; readonly stop?: boolean; readonly yes?: boolean };

export function configureDeleteCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .option("--history", "also delete Temporal's history of its runs")
    .option("--stop", "first stop the open run")
    .option("-y, --yes", "do not ask for confirmation")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast delete 5f0c…
  $ holdfast delete 5f0c… --stop --history --yes

Files that the agent wrote stay. If a deletion is interrupted, run the command again to finish it.`,
    )
    .action(async (session: string, flags: Flags) =>
      runAction((context) => deleteSession(context, session, flags)),
    );
}

async function deleteSession(
  context: Context,
  reference: string,
  { history = false, stop = false, yes = false }: Flags,
): Promise<number> {
  return withSession(context, reference, async (holdfast, session) => {
    if (!yes) await confirmDeletion(context, session);
    const deleted = await holdfast.session(session).delete({ history, stop });
    if (context.json) context.printJson({ type: "deleted", ...deleted });
    else {
      const others =
        deleted.sessions.length > 1 ? ` with ${deleted.sessions.length - 1} of its sub-agents` : "";
      context.report(`Session ${session} is deleted${others}.`);
    }
    return EXIT.ok;
  });
}

/** Asks for confirmation at a terminal; elsewhere `--yes` is required. */
async function confirmDeletion(context: Context, session: string): Promise<void> {
  const { stdin } = context.streams;
  if (stdin.isTTY !== true || context.json) {
    throw new UsageError(
      `Nothing was deleted: without a terminal, the command cannot ask for confirmation. Confirm with --yes: holdfast delete ${session} --yes`,
    );
  }
  context.report(`Delete session ${session} permanently? Type "yes":`);
  const typed = await new Promise<string>((resolve) => {
    const listen = (chunk: unknown) => {
      stdin.off("data", listen);
      stdin.pause();
      resolve(String(chunk));
    };
    stdin.on("data", listen);
    stdin.resume();
  });
  if (typed.trim().toLowerCase() !== "yes")
    throw new UsageError('Nothing was deleted: the answer was not "yes".');
}
