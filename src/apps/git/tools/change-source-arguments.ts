import { z } from "zod";
import { ToolError } from "../../../tools/tool.ts";
import type { ChangeSource } from "../changes/change-set.ts";
import { findMergeBase } from "../changes/pin-change.ts";
import { hashEmptyTree } from "../changes/read-change-set.ts";
import type { Repository } from "../repository/repository.ts";
import { resolveCommit } from "../repository/resolve-commit.ts";

const revision = z.string().max(250);

/** The arguments by which a model says which change it means. */
export const changeSourceArguments = {
  from: revision
    .optional()
    .describe(
      'Where the change begins: a branch, tag or commit; "staged" or nothing for staged changes, "unstaged" for changes of the work tree',
    ),
  to: revision.optional().describe("Where the change ends: a branch, tag or commit; HEAD by default"),
  merge_base: z
    .boolean()
    .optional()
    .describe("Begin where `to` has left `from`, as a pull request does, and not at `from` itself"),
};

type ChangeSourceArguments = z.infer<z.ZodObject<typeof changeSourceArguments>>;

/** Resolves the arguments. An empty text is none: models send it in place of nothing. */
export async function resolveChangeSource(
  repository: Repository,
  { from = "", to = "", merge_base = false }: ChangeSourceArguments,
): Promise<ChangeSource> {
  if (from === "" || from === "staged" || from === "unstaged") {
    if (to !== "" && !(from === "staged" && to === "HEAD")) {
      throw new ToolError("invalid-arguments", "`to` requires a commit as `from`: name both, or neither");
    }
    return { type: from === "unstaged" ? "unstaged" : "staged" };
  }
  const end = await resolveCommit(repository, to === "" ? "HEAD" : to);
  // The tree without files, from which the first commit begins, is no commit.
  const start = from === (await hashEmptyTree(repository)) ? from : await resolveCommit(repository, from);
  return { type: "commits", from: merge_base ? await findMergeBase(repository, start, end) : start, to: end };
}

/** Returns a short name of the change for a timeline. */
export function summariseChangeSource({
  from = "",
  to = "",
  merge_base = false,
}: ChangeSourceArguments): string {
  if (from === "" || from === "staged") return "staged";
  return from === "unstaged" ? from : `${from}${merge_base ? "..." : ".."}${to === "" ? "HEAD" : to}`;
}
