import { findDefaultBase, toVisibleText } from "../../git/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { carryOut, type Present } from "./carry-out.ts";
import { readChangeFlags } from "./change-flags.ts";
import type { GitFlags } from "./git-flags.ts";
import { openSite, rethrowAsUsage } from "./open-git.ts";

/** Writes the text of a pull request. */
export async function writePullRequest(
  context: Context,
  flags: GitFlags & { readonly base?: string; readonly range?: string },
): Promise<number> {
  const site = await openSite(context, flags);
  const given = readChangeFlags({ base: flags.base, range: flags.range });
  const change = given ?? {
    type: "range" as const,
    from: await findDefaultBase(site.repository).catch(rethrowAsUsage),
    to: "HEAD",
    fromMergeBase: true,
  };
  return await carryOut(site, flags, { capability: "pr", change, output: { command: "pr" } }, presentText);
}

type RangeFlags = GitFlags & { readonly from: string; readonly to: string; readonly versionName?: string };

export async function writeChangelog(context: Context, flags: RangeFlags): Promise<number> {
  return await writeRange(context, flags, "changelog");
}

export async function writeReleaseNotes(context: Context, flags: RangeFlags): Promise<number> {
  return await writeRange(context, flags, "release_notes");
}

async function writeRange(context: Context, flags: RangeFlags, capability: string): Promise<number> {
  const { from, to, versionName: version } = flags;
  const change = { type: "range" as const, from, to };
  const work = { capability, change, task: { version }, output: { command: capability } };
  return await carryOut(await openSite(context, flags), flags, work, presentText);
}

/** Prints an artifact that is a text. With `--json` it is in the result. */
export const presentText: Present = async ({ context }, { artifact }) => {
  if (!context.json) context.print(toVisibleText(readText(artifact.value)));
  return EXIT.ok;
};

function readText(value: unknown): string {
  const { content, text } = value as { readonly content?: unknown; readonly text?: unknown };
  if (typeof content === "string") return content;
  return typeof text === "string" ? text : JSON.stringify(value, null, 2);
}
