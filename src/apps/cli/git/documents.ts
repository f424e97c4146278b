import { resolve } from "node:path";
import { findDefaultBase, toVisibleText, updateChangelogFile } from "../../git/index.ts";
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

export async function writeChangelog(
  context: Context,
  flags: RangeFlags & { readonly update?: string },
): Promise<number> {
  const { update, versionName } = flags;
  const version = versionName ?? "Unreleased";
  const date = versionName === undefined ? undefined : new Date().toISOString().slice(0, 10);
  const target = update === undefined ? {} : { update: resolve(update), version, date };
  return await writeRange(context, flags, "changelog", target, presentChangelog);
}

export async function writeReleaseNotes(context: Context, flags: RangeFlags): Promise<number> {
  return await writeRange(context, flags, "release_notes", {}, presentText);
}

async function writeRange(
  context: Context,
  flags: RangeFlags,
  capability: string,
  target: Readonly<Record<string, unknown>>,
  present: Present,
): Promise<number> {
  const { from, to, versionName: version } = flags;
  const change = { type: "range" as const, from, to };
  const work = { capability, change, task: { version }, output: { command: capability, ...target } };
  return await carryOut(await openSite(context, flags), flags, work, present);
}

/** Puts the entry into the file that the user has named, or prints it. */
export const presentChangelog: Present = async (site, made, output) => {
  const { update, version, date } = output;
  if (typeof update !== "string") return await presentText(site, made, output);
  if (made.isUnstructured || made.artifact.type !== "MarkdownChangelog") {
    await presentText(site, made, output);
    return EXIT.failed;
  }
  await updateChangelogFile(update, {
    version: String(version),
    ...(typeof date === "string" ? { date } : {}),
    content: made.artifact.value.content,
  });
  site.context.report(`Updated ${update}.`);
  return EXIT.ok;
};

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
