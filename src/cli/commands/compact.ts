import type { Command } from "commander";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";

export function compactCommand(
  program: Command,
  act: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  program
    .command("compact")
    .description("Make a run's context smaller before its next answer; the record keeps everything")
    .argument("<session>", "the session's id")
    .option("--focus <text>", "what matters most, for the summary")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast compact 5f0c…
  $ holdfast compact 5f0c… --focus "Keep what was found out about the login bug"`,
    )
    .action(async (session: string, flags: { readonly focus?: string }) =>
      act((context) => compact(context, session, flags)),
    );
}

async function compact(
  context: Context,
  session: string,
  { focus }: { readonly focus?: string },
): Promise<number> {
  return withHoldfast(context, async (holdfast) => {
    const open = await holdfast.compact(session, focus === undefined ? {} : { focus });
    if (context.json) context.printJson({ type: "compact", session, open });
    else
      context.print(
        open
          ? "asked to make its context smaller before the next answer"
          : "nothing to do: the session is at rest",
      );
    return EXIT.ok;
  });
}
