import { toVisibleText } from "../../git/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { assertStaged } from "./assert-staged.ts";
import { carryOut, type Present } from "./carry-out.ts";
import type { GitFlags } from "./git-flags.ts";
import { openSite } from "./open-git.ts";

/** Writes the message of a commit from the staged changes. */
export async function commit(context: Context, flags: GitFlags): Promise<number> {
  const site = await openSite(context, flags);
  await assertStaged(site);
  const work = { capability: "commit", change: { type: "staged" as const }, output: { command: "commit" } };
  return await carryOut(site, flags, work, presentMessage);
}

export const presentMessage: Present = async ({ context }, { artifact }) => {
  if (context.json) return EXIT.ok;
  if (artifact.type !== "GeneratedMessage") {
    const { text } = artifact.value as { readonly text?: string };
    context.print(toVisibleText(text ?? JSON.stringify(artifact.value, null, 2)));
    return EXIT.ok;
  }
  const { emoji, title, message } = artifact.value;
  const subject = emoji === null ? title : `${emoji} ${title}`;
  context.print(toVisibleText([subject, ...(message === "" ? [] : [message])].join("\n\n")));
  return EXIT.ok;
};
