import { Severity } from "../../git/index.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { UsageError } from "../usage-error.ts";
import { assertStaged } from "./assert-staged.ts";
import { carryOut, type Present } from "./carry-out.ts";
import { type ChangeFlags, readChangeFlags } from "./change-flags.ts";
import type { GitFlags } from "./git-flags.ts";
import { openSite } from "./open-git.ts";
import { formatReview, REVIEW_FORMATS } from "./review-formats.ts";

type Flags = GitFlags & ChangeFlags & { readonly format: string; readonly failOn?: string };

/** Reviews a change. */
export async function review(context: Context, flags: Flags): Promise<number> {
  const { format, failOn } = flags;
  if (!REVIEW_FORMATS.includes(format))
    throw new UsageError(`--format "${format}" must be one of ${REVIEW_FORMATS.join(", ")}.`);
  if (failOn !== undefined && !Severity.safeParse(failOn).success)
    throw new UsageError(`--fail-on "${failOn}" must be one of ${Severity.options.join(", ")}.`);
  const change = readChangeFlags(flags) ?? { type: "staged" as const };
  const site = await openSite(context, flags);
  if (change.type === "staged") await assertStaged(site);
  const output = { command: "review", format, ...(failOn === undefined ? {} : { failOn }) };
  return await carryOut(site, flags, { capability: "review", change, output }, presentReview);
}

export const presentReview: Present = async (site, made, { format, failOn }) => {
  if (!site.context.json) site.context.print((await formatReview(site, made, String(format))).trimEnd());
  const { artifact } = made;
  const limit = Severity.options.indexOf(failOn as Severity);
  const isFailing =
    artifact.type === "Review" &&
    artifact.value.findings.some(({ severity }) => Severity.options.indexOf(severity) <= limit);
  return isFailing ? EXIT.failed : EXIT.ok;
};
