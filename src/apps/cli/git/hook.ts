import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type HookResult, installHook, removeHook, toVisibleName, withRepository } from "../../git/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { GitFlags } from "./git-flags.ts";
import { type GitSite, openSite, rethrowAsUsage } from "./open-git.ts";

type Flags = Pick<GitFlags, "repo" | "trust" | "model" | "provider" | "preset" | "gitmoji" | "baseUrl">;

/** Installs the hook that begins the messages of commits. */
export async function installGitHook(context: Context, flags: Flags): Promise<number> {
  const { model, provider, preset, gitmoji, baseUrl } = flags;
  const { home, address, namespace } = context.options;
  const program = realpathSync(fileURLToPath(new URL("../main.js", import.meta.url)));
  const options = { home, address, namespace, model, provider, preset, "base-url": baseUrl };
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
  const command = [
    process.execPath,
    ...[program, "git", "commit", "--quiet", ...given],
    ...(gitmoji === true ? ["--gitmoji"] : []),
  ] as const;
  const site = await openSite(context, flags);
  return await changeHook(site, async (repository) => installHook(repository, command, context.streams.env));
}

export async function removeGitHook(
  context: Context,
  flags: Pick<GitFlags, "repo" | "trust">,
): Promise<number> {
  const site = await openSite(context, flags);
  return await changeHook(site, async (repository) => removeHook(repository, context.streams.env));
}

async function changeHook(
  { context, repository, isTrusted }: GitSite,
  change: (repository: Parameters<typeof installHook>[0]) => Promise<HookResult>,
): Promise<number> {
  const result = await withRepository(repository, { isTrusted }, change).catch(rethrowAsUsage);
  if (context.json) context.printJson(result);
  else if (result.type === "refused") context.report(context.err.red(result.message));
  else context.print(describe(result));
  return result.type === "refused" ? EXIT.failed : EXIT.ok;
}

function describe({ type, file }: Exclude<HookResult, { type: "refused" }>): string {
  const name = toVisibleName(file);
  switch (type) {
    case "installed":
      return `Installed ${name}.`;
    case "replaced":
      return `Replaced ${name}, an earlier one of Holdfast.`;
    case "removed":
      return `Removed ${name}.`;
    case "absent":
      return `There is no hook ${name}.`;
  }
}
