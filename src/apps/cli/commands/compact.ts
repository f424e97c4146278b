import type { Command } from "commander";
import type { CompactOptions, CompactResult, Holdfast } from "../../../client/index.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT } from "../find-session.ts";
import { openStack } from "../local-stack.ts";
import { type SandboxFlag, WORKER_SANDBOX_OPTION } from "../sandbox-flag.ts";
import { UsageError } from "../usage-error.ts";

export function configureCompactCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .option("--focus <text>", "what the summary should concentrate on")
    .option("--undo", "remove the compaction of an idle session: its next run sees every message again")
    .option(...WORKER_SANDBOX_OPTION)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast compact 5f0c…
  $ holdfast compact 5f0c… --focus "Keep what was found out about the login bug"
  $ holdfast compact 5f0c… --undo

An open run compacts before its next model call. An idle session is compacted immediately.`,
    )
    .action(async (session: string, flags: CompactOptions & SandboxFlag) =>
      runAction((context) => compact(context, session, flags)),
    );
}

async function compact(
  context: Context,
  reference: string,
  { focus, undo, sandbox }: CompactOptions & SandboxFlag,
): Promise<number> {
  if (focus !== undefined && undo === true) {
    throw new UsageError(
      "--undo removes a compaction, so there is nothing for --focus: give one of the two.",
    );
  }
  const stack = await openStack(context, { sandbox });
  try {
    const { holdfast } = stack;
    const session = await holdfast.sessions.find(reference);
    const { by } = await holdfast.session(session).compact(omitUndefined({ focus, undo }));
    const sizes = by === "own-loop" ? await readSizes(holdfast, session) : undefined;
    if (context.json) context.printJson({ type: "compact", session, by, ...sizes });
    else context.print(formatCompaction(by, sizes));
    return EXIT.ok;
  } finally {
    await stack.close();
  }
}

type CompactionSizes = { readonly tokensBefore: number; readonly tokensAfter: number };

/** Waits for the compaction that was just started and returns its sizes; undefined when there was nothing to compact. */
async function readSizes(holdfast: Holdfast, session: string): Promise<CompactionSizes | undefined> {
  await holdfast.session(session).tryResult();
  const events = (await holdfast.session(session).record()).storedLoops.at(-1)?.events ?? [];
  const ended = events.map(({ body }) => body).findLast((body) => body.type === "CompactionEnded");
  if (ended?.type !== "CompactionEnded") return undefined;
  return { tokensBefore: ended.estimatedTokensBefore, tokensAfter: ended.estimatedTokensAfter };
}

function formatCompaction(by: CompactResult["by"], sizes: CompactionSizes | undefined): string {
  if (by === "removal") return "removed: the next run sees every message again";
  if (by === "open-run") return "requested: the run compacts its context before the next model call";
  if (sizes === undefined) return "nothing to compact";
  const { tokensBefore, tokensAfter } = sizes;
  return `context: about ${tokensAfter} tokens, before about ${tokensBefore}`;
}
