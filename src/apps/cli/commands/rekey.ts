import type { Command } from "commander";
import { rekeyTranscript } from "../../../client/sessions/rekey.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";

export function configureRekeyCommand(command: Command, runAction: RunAction): void {
  command
    .addHelpText(
      "after",
      `
Examples:
  $ HOLDFAST_ENCRYPTION_KEYS=new=env:NEW_KEY,old=env:OLD_KEY holdfast rekey
  $ HOLDFAST_ENCRYPTION_KEYS=plain,old=env:OLD_KEY holdfast rekey    # decrypts everything
  $ holdfast rekey --database postgresql://holdfast@db.example.com:5432/holdfast

You can interrupt the command and run it again. Workers may run at the same time.`,
    )
    .action(async () => runAction(runRekey));
}

async function runRekey(context: Context): Promise<number> {
  const { home, database } = context.options;
  const result = await rekeyTranscript({
    ...omitUndefined({ home, database }),
  });
  if (context.json) context.printJson(result);
  else {
    const effect = result.key === undefined ? "decrypted" : `encrypted with key "${result.key}"`;
    context.print(`${result.changed} of ${result.examined} rows ${effect}, in ${result.location}`);
    if (!result.vacuumed) {
      context.report(
        "The old values are still in the database's free pages, because other processes use the database or another role " +
          "owns its tables. Stop the workers and run this command again as the tables' owner.",
      );
    }
  }
  return EXIT.ok;
}
