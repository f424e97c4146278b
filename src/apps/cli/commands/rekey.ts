import type { Command } from "commander";
import { rekeyTranscript } from "../../../client/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";

export function addRekeyCommand(
  program: Command,
  runAction: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  program
    .command("rekey")
    .description("Seal all that the transcript holds with the first key of HOLDFAST_ENCRYPTION_KEYS")
    .addHelpText(
      "after",
      `
Can be broken off and begun again; workers may go on meanwhile.

Examples:
  $ HOLDFAST_ENCRYPTION_KEYS=new=env:NEW_KEY,old=env:OLD_KEY holdfast rekey
  $ HOLDFAST_ENCRYPTION_KEYS=plain,old=env:OLD_KEY holdfast rekey    # nothing is sealed afterwards
  $ holdfast rekey --database postgresql://holdfast@db.example.com:5432/holdfast`,
    )
    .action(async () => runAction(runRekey));
}

async function runRekey(context: Context): Promise<number> {
  const { home, database } = context.options;
  const result = await rekeyTranscript({
    ...(home === undefined ? {} : { home }),
    ...(database === undefined ? {} : { database }),
  });
  if (context.json) context.printJson(result);
  else {
    const effect = result.key === undefined ? "made plain" : `sealed with key "${result.key}"`;
    context.print(`${result.changed} of ${result.looked} rows ${effect}, in ${result.place}`);
    if (!result.cleaned) {
      context.report(
        "What it held before is still in its free pages: others use it, or its tables are another role's. " +
          "Run this again without workers, as their owner.",
      );
    }
  }
  return EXIT.ok;
}
