import type { Command } from "commander";
import type { PruneAnswersOptions } from "../../../client/index.ts";
import { withHoldfast } from "../connection.ts";
import type { Context, RunAction } from "../context.ts";
import { parseDurationMs } from "../duration.ts";
import { EXIT } from "../exit-codes.ts";
import { formatCount } from "../text.ts";
import { UsageError } from "../usage-error.ts";
import { formatTime } from "./time-text.ts";

type CacheFlags = { readonly prune?: boolean; readonly olderThan?: string; readonly maxSize?: string };

export function configureCacheCommand(command: Command, runAction: RunAction): void {
  command
    .description("Print the size of the stored answers, which runs reuse, or delete some of them")
    .option("--prune", "delete answers; sessions that contain them stay")
    .option("--older-than <time>", "with --prune: those that nothing has used for this time, such as 30d")
    .option("--max-size <size>", "with --prune: the least recently used ones above this size, such as 1GB")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast eval cache\n  $ holdfast eval cache --prune --older-than 30d\n  $ holdfast eval cache --prune --max-size 1GB",
    )
    .action(async (flags: CacheFlags) => runAction((context) => runCache(context, flags)));
}

async function runCache(context: Context, flags: CacheFlags): Promise<number> {
  const prune = parsePrune(flags, Date.now());
  return withHoldfast(context, async ({ evaluations }) => {
    const pruned = prune === undefined ? undefined : await evaluations.pruneAnswers(prune);
    const totals = await evaluations.countAnswers();
    if (context.json)
      context.printJson({ type: "cache", ...totals, ...(pruned === undefined ? {} : { pruned }) });
    else {
      if (pruned !== undefined)
        context.report(`Deleted ${formatCount(pruned.deleted, "answer")} (${formatBytes(pruned.bytes)}).`);
      const oldest =
        totals.oldestAtMs === undefined ? "" : `, the oldest of ${formatTime(totals.oldestAtMs)} UTC`;
      context.print(`${formatCount(totals.answers, "stored answer")}, ${formatBytes(totals.bytes)}${oldest}`);
    }
    return EXIT.ok;
  });
}

/** Parses what is pruned; undefined if nothing is. @throws UsageError If it is not clear what is pruned. */
export function parsePrune(
  { prune = false, olderThan, maxSize }: CacheFlags,
  nowMs: number,
): PruneAnswersOptions | undefined {
  const isBounded = olderThan !== undefined || maxSize !== undefined;
  if (!prune && isBounded)
    throw new UsageError("--older-than and --max-size say what --prune deletes. Add --prune.");
  if (prune && !isBounded)
    throw new UsageError("--prune needs to know what to delete. Specify --older-than or --max-size.");
  if (!prune) return undefined;
  return {
    ...(olderThan === undefined ? {} : { unusedSinceMs: nowMs - parseDurationMs("--older-than", olderThan) }),
    ...(maxSize === undefined ? {} : { maxBytes: parseBytes("--max-size", maxSize) }),
  };
}

const UNITS = [
  ["GB", 1e9],
  ["MB", 1e6],
  ["kB", 1e3],
] as const;

/** Parses a size such as 1GB, 500MB or 0. */
export function parseBytes(flag: string, text: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)\s*(gb|mb|kb|b)?$/i.exec(text) ?? [];
  if (number === undefined) throw new UsageError(`${flag} "${text}" must be a size such as 500MB or 1GB`);
  const factor = UNITS.find(([name]) => name.toLowerCase() === unit.toLowerCase())?.[1] ?? 1;
  return Math.round(Number(number) * factor);
}

export function formatBytes(bytes: number): string {
  const unit = UNITS.find(([, size]) => bytes >= size);
  return unit === undefined ? `${bytes} B` : `${(bytes / unit[1]).toFixed(1)} ${unit[0]}`;
}
