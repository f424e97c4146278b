import type { Command } from "commander";
import { rekey } from "../../client/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";

export function rekeyCommand(
  program: Command,
  act: (work: (context: Context) => Promise<number>) => Promise<void>,
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
  $ HOLDFAST_ENCRYPTION_KEYS=plain,old=env:OLD_KEY holdfast rekey    # nothing is sealed afterwards`,
    )
    .action(async () => act(work));
}

async function work(context: Context): Promise<number> {
  const { home } = context.options;
  const done = await rekey(home === undefined ? {} : { home });
  if (context.json) context.printJson(done);
  else {
    const how = done.key === undefined ? "made plain" : `sealed with key "${done.key}"`;
    context.print(`${done.changed} of ${done.looked} rows ${how}, in ${done.path}`);
    if (!done.cleaned) {
      context.tell(
        "Others use the file: what it held before is still in its free pages. Run this again without workers.",
      );
    }
  }
  return EXIT.ok;
}
