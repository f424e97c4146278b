import { formatMessage, toVisibleText } from "../../git/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { assertStaged } from "./assert-staged.ts";
import { carryOut, type Made, type Present } from "./carry-out.ts";
import type { GitFlags } from "./git-flags.ts";
import { openSite } from "./open-git.ts";
import { makeCommit, prepareCommit, type WrittenCommit } from "./written-commit.ts";

type Flags = GitFlags & { readonly write?: boolean; readonly amend?: boolean };

/** Writes the message of a commit from the staged changes, and makes the commit if the user wants it. */
export async function commit(context: Context, flags: Flags): Promise<number> {
  const { write = false, amend = false } = flags;
  const site = await openSite(context, flags);
  if (!amend) await assertStaged(site);
  const written = write ? await prepareCommit(site, amend) : undefined;
  const work = {
    capability: "commit",
    // Of an amended commit, what is in it already is a part of the change.
    change: amend ? AMENDED : ({ type: "staged" } as const),
    output: { command: "commit", ...(written === undefined ? {} : { written }) },
  };
  return await carryOut(site, flags, work, presentMessage);
}

const AMENDED = { type: "commit", commit: "HEAD", withStaged: true } as const;

/** Prints the message, or makes the commit for which it was written. */
export const presentMessage: Present = async (site, { artifact, isUnstructured }, { written }) => {
  const { context } = site;
  const message = readMessage(artifact);
  const isMessage = artifact.type === "GeneratedMessage" && !isUnstructured;
  if (written !== undefined && isMessage) return await makeCommit(site, message, written as WrittenCommit);
  // Of what is no message for certain, the hook and scripts must make none.
  const isFailed = artifact.type !== "GeneratedMessage" || (written !== undefined && !isMessage);
  if (!context.json) context.print(toVisibleText(message).trimEnd());
  return isFailed ? EXIT.failed : EXIT.ok;
};

function readMessage(artifact: Made["artifact"]): string {
  if (artifact.type === "GeneratedMessage") return formatMessage(artifact.value);
  const { text } = artifact.value as { readonly text?: unknown };
  return typeof text === "string" ? text : JSON.stringify(artifact.value, null, 2);
}
