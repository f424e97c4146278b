import { pinLines } from "../../git/index.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../usage-error.ts";
import { carryOut } from "./carry-out.ts";
import { presentText } from "./documents.ts";
import type { GitFlags } from "./git-flags.ts";
import { openSite, rethrowAsUsage } from "./open-git.ts";

/** Explains why lines of a file are as they are. */
export async function blame(
  context: Context,
  place: string,
  question: string,
  flags: GitFlags,
): Promise<number> {
  const [, file = "", first, last = first] = /^(.+):(\d+)(?:-(\d+))?$/s.exec(place) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (file === "" || !(from >= 1) || to < from)
    throw new UsageError(
      `"${place}" must have the form FILE:LINE or FILE:FROM-TO, such as src/queue.ts:40-52.`,
    );
  const site = await openSite(context, flags);
  const lines = await pinLines(site.repository, process.cwd(), { file, from, to }).catch(rethrowAsUsage);
  const work = {
    capability: "semantic_blame",
    task: { lines, question },
    output: { command: "blame" },
  };
  return await carryOut(site, flags, work, presentText);
}
