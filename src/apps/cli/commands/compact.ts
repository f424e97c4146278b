import type { Command } from "commander";
import type { Holdfast } from "../../../client/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { openStack } from "../local-stack.ts";

export function addCompactCommand(
  program: Command,
  runAction: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  program
    .command("compact")
    .description("Make a session's context smaller; the record keeps everything")
    .argument("<session>", "the session's id")
    .option("--focus <text>", "what matters most, for the summary")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast compact 5f0c…
  $ holdfast compact 5f0c… --focus "Keep what was found out about the login bug"

An open run does it before its next answer; of a session at rest it is done at once.`,
    )
    .action(async (session: string, flags: { readonly focus?: string }) =>
      runAction((context) => compact(context, session, flags)),
    );
}

async function compact(
  context: Context,
  session: string,
  { focus }: { readonly focus?: string },
): Promise<number> {
  const stack = await openStack(context);
  try {
    const { holdfast } = stack;
    const { by } = await holdfast.compact(session, focus === undefined ? {} : { focus });
    const sizes = by === "own-loop" ? await readSizes(holdfast, session) : undefined;
    if (context.json) context.printJson({ type: "compact", session, by, ...sizes });
    else context.print(formatCompaction(by, sizes));
    return EXIT.ok;
  } finally {
    await stack.close();
  }
}

type CompactionSizes = { readonly tokensBefore: number; readonly tokensAfter: number };

/** Of the compaction that was just started, when it is over; nothing when there was nothing to make smaller. */
async function readSizes(holdfast: Holdfast, session: string): Promise<CompactionSizes | undefined> {
  await holdfast.result(session);
  const events = (await holdfast.loops(session)).at(-1)?.events ?? [];
  const ended = events.map(({ body }) => body).findLast((body) => body.type === "CompactionEnded");
  if (ended?.type !== "CompactionEnded") return undefined;
  return { tokensBefore: ended.estimatedTokensBefore, tokensAfter: ended.estimatedTokensAfter };
}

function formatCompaction(by: "open-run" | "own-loop", sizes: CompactionSizes | undefined): string {
  if (by === "open-run") return "asked to make its context smaller before the next answer";
  if (sizes === undefined) return "nothing to make smaller";
  const { tokensBefore, tokensAfter } = sizes;
  return `context now about ${tokensAfter} tokens; it was about ${tokensBefore}`;
}
